import { beforeAll, describe, expect, test } from "vitest";
import { EventService } from "../../gen/shipments/v1/event_service_pb.js";
import { ShipmentService } from "../../gen/shipments/v1/shipment_service_pb.js";
import { MAX_METADATA_KEYS, MAX_PAGE_SIZE } from "../../src/domain/limits.ts";
import { PROTOCOLS, rpcClient } from "../support/rpc-client.ts";
import { sharedService } from "../support/service.ts";
import { RPC_ROUTE } from "../support/bookings.ts";

const service = await sharedService();

/** Returns a text that is not blank, although all its characters but the first can be invisible. */
function visibleText(character: string, length: number): string {
  return `A${character.repeat(length - 1)}`;
}

/** Returns a booking in which every text has its maximum length, in characters. */
function largestBooking(character: string) {
  const text = (length: number) => visibleText(character, length);
  const notes = Array.from({ length: MAX_METADATA_KEYS }, (_, i): [string, string] => {
    const key = `${i}`;
    return [key + text(40 - key.length), text(500)];
  });
  return {
    ...RPC_ROUTE,
    customerName: text(200),
    customerEmail: "ada@example.org",
    customerIdNumber: text(64),
    pickupAddress: text(500),
    dropoffAddress: text(500),
    metadata: Object.fromEntries(notes),
  };
}

interface Page {
  readonly names: readonly string[];
  /** Token of the next page. Empty after the last page. */
  readonly next: string;
}

/** Returns the names on each page. */
async function readAll(read: (from: string | undefined) => Promise<Page>): Promise<string[][]> {
  const pages: string[][] = [];
  let from: string | undefined;
  do {
    const { names, next } = await read(from);
    pages.push([...names]);
    from = next === "" ? undefined : next;
  } while (from !== undefined);
  return pages;
}

const CHARACTERS: Readonly<Record<string, string>> = {
  "four bytes each": "𝒳",
  "six bytes each as JSON": "\u0001",
};

describe.each(Object.entries(CHARACTERS))(
  "pages of the largest shipments, in characters of %s, are shortened and complete",
  (_, character) => {
    let apiKey: string;
    let references: string[];
    beforeAll(async () => {
      ({ apiKey } = await service.addWorkspace());
      const client = service.grpcClient(apiKey);
      const booking = largestBooking(character);
      const booked = Array.from({ length: MAX_PAGE_SIZE }, () => client.createShipment(booking));
      references = (await Promise.all(booked)).map(({ data }) => data!.reference);
      for (let i = 0; i < MAX_PAGE_SIZE; i++) {
        const pickupAddress = visibleText(character, 499 + (i % 2));
        await client.updateShipment({ shipment: references[0]!, pickupAddress });
      }
    });

    /** Reads the whole list over JSON, gRPC, and gRPC with JSON messages. */
    async function readEachWay(
      path: string,
      byJson: (body: any) => Page,
      byGrpc: (protocol: keyof typeof PROTOCOLS, from: string | undefined) => Promise<Page>,
      token: string,
    ): Promise<string[][][]> {
      return [
        await readAll(async (from) => {
          const query = from === undefined ? "" : `&${token}=${from}`;
          const { body } = await service.request(`${path}?page_size=100${query}`, { apiKey });
          return byJson(body);
        }),
        await readAll((from) => byGrpc("gRPC on the gRPC server", from)),
        await readAll((from) => byGrpc("gRPC with JSON on the gRPC server", from)),
      ];
    }

    function expectSamePages(ways: string[][][], all: readonly string[]): void {
      const [json, grpc, grpcJson] = ways;
      expect(json!.flat().toSorted()).toEqual(all.toSorted());
      expect(json!.length).toBeGreaterThan(1);
      expect([grpc, grpcJson]).toEqual([json, json]);
    }

    const clientOf = (protocol: keyof typeof PROTOCOLS) =>
      rpcClient(EventService, PROTOCOLS[protocol], service, apiKey);

    test("in the list of shipments", async () => {
      const ways = await readEachWay(
        "/v1/shipments",
        ({ data, next_page_token: next }) => ({ names: data.map((it: any) => it.reference), next }),
        async (protocol, pageToken) => {
          const client = rpcClient(ShipmentService, PROTOCOLS[protocol], service, apiKey);
          const page = await client.listShipments({ pageSize: 100, pageToken });
          return { names: page.data.map((it) => it.reference), next: page.nextPageToken };
        },
        "page_token",
      );
      expectSamePages(ways, references);
    });

    const events = () => [
      ...references.map((reference) => `evt_${reference}_1`),
      ...Array.from({ length: MAX_PAGE_SIZE }, (_unused, i) => `evt_${references[0]}_${i + 2}`),
    ];

    test("in the feed of events", async () => {
      const ways = await readEachWay(
        "/v1/events",
        (body) => ({
          names: body.data.map((it: any) => it.id),
          next: body.has_more ? body.cursor : "",
        }),
        async (protocol, after) => {
          const page = await clientOf(protocol).listEvents({ pageSize: 100, after });
          return { names: page.data.map((it) => it.id), next: page.hasMore ? page.cursor : "" };
        },
        "after",
      );
      expectSamePages(ways, events());
    });

    test("in the events of one shipment", async () => {
      const [shipment] = references as [string];
      const ways = await readEachWay(
        `/v1/shipments/${shipment}/events`,
        ({ data, next_page_token: next }) => ({ names: data.map((it: any) => it.id), next }),
        async (protocol, pageToken) => {
          const request = { shipment, pageSize: 100, pageToken };
          const page = await clientOf(protocol).listShipmentEvents(request);
          return { names: page.data.map((it) => it.id), next: page.nextPageToken };
        },
        "page_token",
      );
      const ofShipment = events().filter((it) => it.startsWith(`evt_${shipment}_`));
      expectSamePages(ways, ofShipment);
    });
  },
);
