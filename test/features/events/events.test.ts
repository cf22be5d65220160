import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError, type CallOptions, type Client } from "@connectrpc/connect";
import { expect, test } from "vitest";
import {
  EventService,
  type WatchEventsRequestSchema,
  WatchEventsResponseSchema,
  type WatchEventsResponse,
} from "../../../gen/shipments/v1/event_service_pb.js";
import { HEARTBEAT_MS } from "../../../src/features/events/event-functions.ts";
import { data, expectRefused, invalidFields } from "../../support/answers.ts";
import { book as bookAt, bookAnd, BOOKING, takeStep, type Step } from "../../support/bookings.ts";
import { eventually } from "../../support/eventually.ts";
import { revokeKey } from "../../support/platform.ts";
import { frame, rawGrpc } from "../../support/raw-grpc.ts";
import { PROTOCOLS, rpcClient } from "../../support/rpc-client.ts";
import { signIn } from "../../support/browser.ts";
import { connectTo } from "../../support/database.ts";
import { startReplica, sharedService, startService } from "../../support/service.ts";
import { startStatementLog } from "../../support/statement-log.ts";
import { rpcError } from "../../support/rpc-error.ts";
import { take } from "../../support/take.ts";
import { withoutHeartbeats } from "../../support/without-heartbeats.ts";

const service = await sharedService();

/** Message that a stream sends while there is no event. */
const HEARTBEAT = create(WatchEventsResponseSchema);

const book = (apiKey: string, changes: object = {}) => bookAt(service, apiKey, changes);

/** Takes a step and returns the resulting shipment. */
const step = (apiKey: string, { reference }: any, step: Step) => data(takeStep(service, apiKey, reference, step));

const eventsOf = (apiKey: string, { reference: shipment }: any): Promise<any[]> =>
  data(service.as(apiKey).listShipmentEvents({ shipment, page_size: 100 }));

const readFeed = async (apiKey: string, fields: object = {}): Promise<any> =>
  (await service.as(apiKey).listEvents(fields)).body;

/** Returns the first messages of a gRPC stream that contain an event. */
const watch = (
  apiKey: string,
  count: number,
  request: MessageInitShape<typeof WatchEventsRequestSchema> = {},
  options?: CallOptions,
) => {
  const client = service.grpcClient(apiKey, EventService);
  return take(count, withoutHeartbeats(client.watchEvents(request, options)));
};

const outline = (events: any[]) => events.map(({ number, type }) => `${number} ${type}`);

test("a booking writes one event, which contains the shipment as in the response", async () => {
  const { apiKey } = await service.addWorkspace();
  const shipment = await book(apiKey);
  expect(await eventsOf(apiKey, shipment)).toEqual([
    {
      id: `evt_${shipment["reference"]}_1`,
      type: "shipment.created",
      timestamp: shipment["created_at"],
      shipment: shipment["reference"],
      number: 1,
      data: shipment,
      webhook: null,
      actor: null,
      position: 1,
      test: false,
      api_key: { id: expect.stringMatching(/^key_/), name: null, last4: apiKey.slice(-4) },
      courier: null,
    },
  ]);
});

test("every state change writes its events, numbered without gaps, each with the shipment at that time", async () => {
  const { apiKey } = await service.addWorkspace();
  const booked = await book(apiKey);
  const change = { shipment: booked["reference"], pickup_address: "Elsewhere" };
  const updated = await data(service.as(apiKey).updateShipment(change));
  const paid = await step(apiKey, booked, "pay");
  const inTransit = await step(apiKey, booked, "advance");
  const delivered = await step(apiKey, booked, "advance");

  const events = await eventsOf(apiKey, booked);
  expect(outline(events)).toEqual([
    "1 shipment.created",
    "2 shipment.updated",
    "3 shipment.paid",
    "4 shipment.awaiting_pickup",
    "5 shipment.in_transit",
    "6 shipment.delivered",
  ]);
  const states = [booked, updated, paid, paid, inTransit, delivered];
  expect(events.map((event) => event.data)).toEqual(states);
});

test.each<[way: Step[], types: string[]]>([
  [
    ["pay", "cancel", "refund"],
    ["created", "paid", "awaiting_pickup", "cancelled", "refunded"],
  ],
  [
    ["cancel", "pay"],
    ["created", "cancelled", "paid"],
  ],
])("payments and refunds after a cancellation write their events: %j", async (way, types) => {
  const { apiKey } = await service.addWorkspace();
  const events = await eventsOf(apiKey, await bookAnd(service, apiKey, way));
  expect(outline(events)).toEqual(types.map((type, i) => `${i + 1} shipment.${type}`));
});

test("a call that changes nothing or is rejected writes no event", async () => {
  const { apiKey } = await service.addWorkspace();
  const booked = await book(apiKey);
  const shipment = booked["reference"];
  const caller = service.as(apiKey);
  await data(caller.updateShipment({ shipment, pickup_address: BOOKING.pickup_address }));
  expect((await caller.advanceShipment({ shipment })).code).toBe("SHIPMENT_STATE");
  const wrong = { shipment, amount: 1, currency: "USD" };
  expect((await caller.recordPayment(wrong)).code).toBe("PAYMENT_MISMATCH");
  expect(outline(await eventsOf(apiKey, booked))).toEqual(["1 shipment.created"]);
});

test("concurrent changes number their events without gaps, and the last event holds the final shipment", async () => {
  const { apiKey } = await service.addWorkspace();
  const booked = await book(apiKey);
  const shipment = booked["reference"];
  const caller = service.as(apiKey);
  const changes = Array.from({ length: 20 }, (_, i) =>
    data(caller.updateShipment({ shipment, pickup_address: `Street ${i}` })),
  );
  await Promise.all(changes);
  const events = await eventsOf(apiKey, booked);
  expect(events.map((event) => event.number)).toEqual(Array.from({ length: 21 }, (_, i) => i + 1));
  expect(events.at(-1).data).toEqual(await data(caller.getShipment({ shipment })));
});

test("every shipment of the workspace can be rebuilt from the event log alone", async () => {
  const { apiKey } = await service.addWorkspace();
  for (let i = 0; i < 12; i++) {
    const shipment = await book(apiKey, { metadata: { box: `${i}` } });
    if (i % 2 === 0) await step(apiKey, shipment, "pay");
    if (i % 3 === 0) await step(apiKey, shipment, "cancel");
    if (i % 6 === 2) await step(apiKey, shipment, "advance");
  }
  const rebuilt = new Map<string, unknown>();
  for (let after = "", more = true; more;) {
    const page = await readFeed(apiKey, { page_size: 7, after });
    for (const event of page.data) rebuilt.set(event.shipment, event.data);
    [after, more] = [page.cursor, page.has_more];
  }
  const shipments = await data(service.as(apiKey).listShipments({ page_size: 100 }));
  expect(shipments).toHaveLength(12);
  expect(rebuilt).toEqual(new Map(shipments.map((it: any) => [it.reference, it])));
});

test("a shipment's events are listed page by page", async () => {
  const { apiKey } = await service.addWorkspace();
  const { reference: shipment } = await bookAnd(service, apiKey, ["pay"]);
  const list = (fields: object) => service.as(apiKey).listShipmentEvents({ shipment, page_size: 2, ...fields });
  const first = (await list({})).body;
  expect(outline(first.data)).toEqual(["1 shipment.created", "2 shipment.paid"]);
  const second = (await list({ page_token: first.next_page_token })).body;
  expect(outline(second.data)).toEqual(["3 shipment.awaiting_pickup"]);
  expect(second.next_page_token).toBe("");
  expect(await invalidFields(list({ page_token: "nonsense" }))).toEqual(["page_token"]);
});

test("the event feed returns only the requested types, and rejects an unknown type", async () => {
  const { apiKey } = await service.addWorkspace();
  await bookAnd(service, apiKey, ["pay"]);
  const page = await readFeed(apiKey, { types: ["shipment.paid", "shipment.cancelled"] });
  expect(outline(page.data)).toEqual(["2 shipment.paid"]);
  const { errors } = await readFeed(apiKey, { types: ["shipment.lost"] });
  expect(Object.keys(errors)).toEqual(["types[0]"]);
});

test("the event feed rejects invalid cursors and those of another workspace", async () => {
  const mine = await service.addWorkspace();
  const theirs = await service.addWorkspace();
  await book(theirs.apiKey);
  const { cursor } = await readFeed(theirs.apiKey);
  for (const after of [cursor, "nonsense"]) {
    await expectRefused(service.as(mine.apiKey).listEvents({ after }), "FIELD_INVALID", {
      after: "after is not a cursor of this workspace's events.",
    });
  }
});

test("an event that commits late is not skipped by a cursor returned earlier", async () => {
  const { apiKey, id } = await service.addWorkspace();
  const late = await connectTo(service.databaseUrl);
  await late.query("begin");
  await late.query(
    `insert into event (workspace_id, position, subject, number, type, data, created_at)
     select $1, raise_feed($1, 1), 'SHP-LATE00000000', 1, 'shipment.created',
            '{"reference": "SHP-LATE00000000"}', now()`,
    [id],
  );
  // The booking waits until the earlier event is committed, which preserves the order.
  const booking = book(apiKey);
  const waiting = `select from pg_locks
    where not granted and pg_backend_pid() = any (pg_blocking_pids(pid))`;
  await eventually("a booking that waits", async () => (await late.query(waiting)).rowCount! > 0);
  expect((await readFeed(apiKey)).data).toEqual([]);

  await late.query("commit");
  await late.end();
  const { reference } = await booking;
  const page = await readFeed(apiKey);
  expect(page.data.map((event: any) => event.shipment)).toEqual(["SHP-LATE00000000", reference]);
});

test.for(["gRPC on the gRPC server", "Connect on the HTTP server"] as const)(
  "watchEvents over %s sends past events, then new ones, and resumes from a cursor",
  async (protocol) => {
    const { apiKey } = await service.addWorkspace();
    const client = rpcClient(EventService, PROTOCOLS[protocol], service, apiKey);
    const shipment = await book(apiKey);
    const stream = withoutHeartbeats(client.watchEvents({}))[Symbol.asyncIterator]();
    const watched = [(await stream.next()).value!];
    await step(apiKey, shipment, "pay");
    watched.push((await stream.next()).value!, (await stream.next()).value!);
    await stream.return?.(undefined);
    expect(watched.map(({ data: event }) => event?.type)).toEqual([
      "shipment.created",
      "shipment.paid",
      "shipment.awaiting_pickup",
    ]);
    const resumed = client.watchEvents({ after: watched[0]!.cursor });
    expect(await take(2, withoutHeartbeats(resumed))).toEqual(watched.slice(1));
  },
);

test("watchEvents responds at once in a workspace without events, and again within 15 seconds", async () => {
  expect(HEARTBEAT_MS).toBeLessThanOrEqual(15_000);
  const { apiKey } = await service.addWorkspace();
  const streams = (["gRPC on the gRPC server", "Connect on the HTTP server"] as const).map((protocol) =>
    take(2, rpcClient(EventService, PROTOCOLS[protocol], service, apiKey).watchEvents({})),
  );
  // Waits for the real interval. Fake timers would also stop the service's background work.
  for (const heartbeats of await Promise.all(streams)) expect(heartbeats).toEqual([HEARTBEAT, HEARTBEAT]);
});

test("a heartbeat contains the cursor of the last event", async () => {
  const { apiKey } = await service.addWorkspace();
  await book(apiKey);
  const { cursor } = await readFeed(apiKey);
  const client = service.grpcClient(apiKey, EventService);
  const [heartbeat] = await take(1, client.watchEvents({ after: cursor }));
  expect(heartbeat).toEqual({ ...HEARTBEAT, cursor });
});

test("watchEvents from now sends no past events, and its first cursor leads to later ones", async () => {
  const { apiKey } = await service.addWorkspace();
  const client = service.grpcClient(apiKey, EventService);
  expect(await take(1, client.watchEvents({ fromNow: true }))).toEqual([HEARTBEAT]);
  await book(apiKey);
  const { cursor } = await readFeed(apiKey);
  expect(await take(1, client.watchEvents({ fromNow: true }))).toEqual([{ ...HEARTBEAT, cursor }]);
  const watching = client.watchEvents({ fromNow: true })[Symbol.asyncIterator]();
  await watching.next();
  const { reference } = await book(apiKey);
  const resumed = take(1, withoutHeartbeats(client.watchEvents({ after: cursor, fromNow: true })));
  const rest = take(1, withoutHeartbeats({ [Symbol.asyncIterator]: () => watching }));
  for (const [seen] of await Promise.all([rest, resumed])) {
    expect(seen!.data!.id).toBe(`evt_${reference}_1`);
  }
});

test("watchEvents sends only events of the caller's workspace and of the requested types", async () => {
  const { apiKey } = await service.addWorkspace();
  const other = await service.addWorkspace();
  await book(other.apiKey);
  const shipment = await book(apiKey);
  const watching = watch(apiKey, 1, { types: ["shipment.paid"] });
  await step(apiKey, shipment, "pay");
  const [seen] = await watching;
  expect(seen?.data).toMatchObject({ shipment: shipment["reference"], type: "shipment.paid" });
});

test("watchEvents rejects a wrong key, invalid fields and an invalid cursor", async () => {
  const { apiKey } = await service.addWorkspace();
  const codeOf = async (client: Client<typeof EventService>, request: object) => {
    const error = await take(1, client.watchEvents(request)).catch((it: unknown) => it);
    return ConnectError.from(error).code;
  };
  expect(await codeOf(service.grpcClient("shp_nothing", EventService), {})).toBe(Code.Unauthenticated);
  const client = service.grpcClient(apiKey, EventService);
  expect(await codeOf(client, { types: ["nothing"] })).toBe(Code.InvalidArgument);
  expect(await codeOf(client, { after: "nonsense" })).toBe(Code.InvalidArgument);
});

test("an event stream ends when its key is revoked", async () => {
  const { apiKey, id } = await service.addWorkspace();
  const client = service.grpcClient(apiKey, EventService);
  const stream = client.watchEvents({})[Symbol.asyncIterator]();
  await stream.next();
  await revokeKey(service.app.em, id, apiKey);
  await expect(stream.next()).rejects.toMatchObject({ code: Code.Unauthenticated });
});

test("an event stream ends at the caller's deadline", async () => {
  const { apiKey } = await service.addWorkspace();
  const watching = watch(apiKey, 1, {}, { timeoutMs: 300 });
  await expect(watching).rejects.toMatchObject({ code: Code.DeadlineExceeded });
});

test.for(["gRPC on the gRPC server", "Connect on the HTTP server"] as const)(
  "an event stream over %s accepts a deadline beyond the range of timers",
  async (protocol) => {
    const { apiKey } = await service.addWorkspace();
    const client = rpcClient(EventService, PROTOCOLS[protocol], service, apiKey);
    const headers = { "grpc-timeout": "99999999H", "connect-timeout-ms": "9999999999" };
    const stream = client.watchEvents({}, { headers })[Symbol.asyncIterator]();
    await stream.next();
    await book(apiKey);
    expect((await stream.next()).value.data.type).toBe("shipment.created");
    await stream.return?.(undefined);
  },
);

test("an event stream ends with DEADLINE_EXCEEDED even if the caller does not enforce its deadline", async () => {
  const { apiKey } = await service.addWorkspace();
  const path = "/shipments.v1.EventService/WatchEvents";
  const headers = { "x-api-key": apiKey };
  const { trailers } = await rawGrpc(
    service.grpcUrl,
    path,
    { ...headers, "content-type": "application/grpc", te: "trailers", "grpc-timeout": "300m" },
    frame(new Uint8Array()),
  );
  expect([trailers["grpc-status"], trailers["grpc-message"]]).toEqual([
    String(Code.DeadlineExceeded),
    encodeURIComponent("The caller's deadline passed before the response."),
  ]);
  const answer = await fetch(service.httpUrl + path, {
    method: "POST",
    headers: {
      ...headers,
      "content-type": "application/connect+json",
      "connect-timeout-ms": "300",
    },
    body: frame(Buffer.from("{}")),
  });
  expect(await answer.text()).toContain('"error":{"code":"deadline_exceeded"');
});

test("a workspace can have up to 20 open event streams, independently of other workspaces", async () => {
  const { apiKey } = await service.addWorkspace();
  const other = await service.addWorkspace();
  const leaving = new AbortController();
  const streams = Array.from({ length: 21 }, () => watch(apiKey, 1, {}, { signal: leaving.signal }));
  expect(await rpcError(Promise.race(streams))).toEqual({
    code: "ResourceExhausted",
    message: "The workspace's keys have 20 streams open here, which is the maximum. Close one first.",
    details: {
      ErrorInfo: { reason: "RATE_LIMITED", domain: "shipments.v1" },
      RetryInfo: { retryDelay: "1s" },
    },
  });
  await book(other.apiKey);
  expect(await watch(other.apiKey, 1)).toHaveLength(1);
  leaving.abort();
  await Promise.allSettled(streams);
});

test("a workspace can have up to 100 open event streams, regardless of its number of members", async () => {
  const { apiKey, id } = await service.addWorkspace();
  const leaving = new AbortController();
  const open = async (cookie: string): Promise<string> => {
    const answer = await fetch(`${service.httpUrl}/shipments.v1.EventService/WatchEvents`, {
      method: "POST",
      headers: {
        cookie,
        "sec-fetch-site": "same-origin",
        "x-workspace": String(id),
        "content-type": "application/connect+json",
      },
      body: frame(Buffer.from("{}")),
      signal: leaving.signal,
    });
    const { value } = await answer.body!.getReader().read();
    return Buffer.from(value!.subarray(5)).toString();
  };
  const people: string[] = [];
  for (const name of ["a", "b", "c", "d", "e", "f"]) {
    const person = { email: `${name}@example.org`, role: "viewer" } as const;
    people.push((await signIn(service, apiKey, person)).cookie);
  }
  const all = people.slice(0, 5).flatMap((cookie) => Array(20).fill(cookie));
  expect(new Set(await Promise.all(all.map(open)))).toEqual(new Set(["{}"]));
  const refusal = (message: string) => ({ error: { code: "resource_exhausted", message } });
  expect(JSON.parse(await open(people[5]!))).toMatchObject(
    refusal("The workspace has 100 streams open here, which is the maximum. Close one first."),
  );
  expect(JSON.parse(await open(people[0]!))).toMatchObject(
    refusal("You have 20 streams open here, which is the maximum. Close one first."),
  );
  const other = await service.addWorkspace();
  const client = service.grpcClient(other.apiKey, EventService);
  expect(await take(1, client.watchEvents({}))).toEqual([HEARTBEAT]);
  leaving.abort();
});

test("one statement polls the feeds of all streams, and a stream reads events only after its feed has grown", async () => {
  const log = await startStatementLog(service.databaseUrl);
  const replica = await startReplica(log.url);
  const leaving = new AbortController();
  const streams: AsyncIterator<WatchEventsResponse>[] = [];
  const keys = [(await replica.addWorkspace()).apiKey, (await replica.addWorkspace()).apiKey];
  for (const apiKey of keys) {
    const client = replica.grpcClient(apiKey, EventService);
    for (let i = 0; i < 15; i++) {
      streams.push(client.watchEvents({}, { signal: leaving.signal })[Symbol.asyncIterator]());
    }
  }
  const nexts = () => Promise.all(streams.map((stream) => stream.next()));
  expect((await nexts()).map(({ value }) => value)).toEqual(Array(30).fill(HEARTBEAT));
  const reads = () => log.runs.filter((text) => text.includes(`"createdMs" from event`)).length;
  const polls = () => log.runs.filter((text) => text.includes("from feed")).length;
  const before = polls();
  await eventually("three feed polls", () => polls() >= before + 3);
  expect(reads()).toBe(30);

  const shipments = await Promise.all(keys.map((apiKey) => book(apiKey)));
  const seen = (await nexts()).map(({ value }) => value.data.shipment);
  expect(seen).toEqual(streams.map((_, i) => shipments[i < 15 ? 0 : 1]!.reference));
  leaving.abort();
});

test("event streams end with UNAVAILABLE when the service stops, without delaying it", async () => {
  const stopping = await startService();
  const { apiKey } = await stopping.addWorkspace();
  const client = stopping.grpcClient(apiKey, EventService);
  const stream = client.watchEvents({})[Symbol.asyncIterator]();
  await stream.next();
  const ended = expect(stream.next()).rejects.toMatchObject({ code: Code.Unavailable });
  await stopping.close();
  await ended;
});
