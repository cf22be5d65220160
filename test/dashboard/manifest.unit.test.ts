import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { ShipmentSchema, ShipmentStatus } from "../../gen/shipments/v1/shipment_pb.js";
import { groupPickups, loadManifest } from "../../src/dashboard/print/manifest.ts";
import type { ShipmentFilters } from "../../src/dashboard/shipments/newest-shipments.ts";

const DAY = "2026-12-01";

function shipmentAt(start: string | undefined, timeZone = "UTC", pickupAddress = "1 Broadway") {
  const at = start && timestampFromDate(new Date(start));
  const window = at && { start: at, end: at, timeZone };
  return create(ShipmentSchema, {
    reference: `${start} ${pickupAddress}`,
    pickupAddress,
    ...(window && { pickupWindow: window }),
  });
}

/** Loads the manifest from a service that lists these shipments by pickup time, two per page. */
async function load(shipments: readonly ReturnType<typeof shipmentAt>[], isToday: boolean) {
  const requests: ShipmentFilters[] = [];
  const client = {
    async listShipments({ pageToken, pageSize, ...filters }: ShipmentFilters) {
      expect(pageSize).toBe(100);
      if (pageToken === "") requests.push(filters);
      const next = Number(pageToken) + 2;
      const data = shipments.slice(next - 2, next);
      return { data, nextPageToken: next < shipments.length ? String(next) : "" };
    },
  };
  const manifest = await loadManifest(
    client as unknown as Parameters<typeof loadManifest>[0],
    { day: DAY, isToday },
    new AbortController().signal,
  );
  return { shipments: manifest, requests };
}

const at = (text: string) => timestampFromDate(new Date(text));
const FILTERS = { status: ShipmentStatus.AWAITING_PICKUP, orderBy: "pickup_window" };

test("today's manifest contains all shipments without a time and late ones", async () => {
  const untimed = Array.from({ length: 1_234 }, (_, i) => shipmentAt(undefined, "UTC", `${1_000 + i} Broadway`));
  const late = shipmentAt("2026-11-30T09:00Z");
  const [first, second] = [shipmentAt("2026-12-01T09:00Z", "UTC", "2"), shipmentAt("2026-12-01T10:00Z")];
  const tomorrow = shipmentAt("2026-12-02T10:00Z");
  expect(await load([...untimed, late, first, second, tomorrow], true)).toEqual({
    shipments: [...untimed, late, first, second],
    requests: [{ ...FILTERS, pickupBefore: at("2026-12-02T12:00Z") }],
  });
});

test("another day's manifest contains the pickups on that local date, by time and address", async () => {
  const inAuckland = shipmentAt("2026-11-30T12:00Z", "Pacific/Auckland");
  const inLosAngeles = shipmentAt("2026-12-02T07:00Z", "America/Los_Angeles");
  const [second, first] = [
    shipmentAt("2026-12-01T09:00Z", "UTC", "2 Broadway"),
    shipmentAt("2026-12-01T09:00Z", "UTC", "1 Broadway"),
  ];
  const others = [
    shipmentAt("2026-12-01T05:00Z", "America/Los_Angeles"),
    shipmentAt("2026-12-01T12:00Z", "Pacific/Auckland"),
  ];
  const all = [inAuckland, others[0]!, second, first, others[1]!, inLosAngeles];
  expect(await load(all, false)).toEqual({
    shipments: [inAuckland, first, second, inLosAngeles],
    requests: [{ ...FILTERS, pickupFrom: at("2026-11-30T10:00Z"), pickupBefore: at("2026-12-02T12:00Z") }],
  });
});

test("groups by courier or zone: positions in a courier's run, then pickups at a time, then the nearest one", () => {
  const of = (reference: string, name: string | undefined, fields: object = {}, sequence?: number) =>
    create(ShipmentSchema, {
      createdAt: at("2026-12-01T08:00Z"),
      reference,
      ...fields,
      courier: name ? { name, sequence } : undefined,
    });
  const timed = { pickupWindow: { start: at("2026-12-01T09:00Z"), end: at("2026-12-01T10:00Z"), timeZone: "UTC" } };
  const shipments = [
    of("start", undefined, { createdAt: at("2026-12-01T07:00Z") }),
    of("far", undefined, { pickupLat: 2 }),
    of("near", undefined, { pickupLat: 1 }),
    of("Grace's next", "Grace"),
    of("Ada's second", "Ada", {}, 2),
    of("Ada's first", "Ada", {}, 1),
    of("Grace's timed", "Grace", timed),
  ];
  const named = (groups: ReturnType<typeof groupPickups>) =>
    groups.map(([name, own]) => [name, own.map(({ reference }) => reference)]);
  expect(named(groupPickups(shipments))).toEqual([
    ["Ada", ["Ada's first", "Ada's second"]],
    ["Grace", ["Grace's timed", "Grace's next"]],
    ["", ["start", "near", "far"]],
  ]);
  const zones = new Map(shipments.slice(1).map((shipment) => [shipment, "Kings"]));
  expect(named(groupPickups(shipments, zones))).toEqual([
    ["Kings", ["Grace's timed", "far", "near", "Grace's next", "Ada's second", "Ada's first"]],
    ["", ["start"]],
  ]);
});
