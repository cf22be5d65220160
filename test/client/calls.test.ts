import { beforeAll, expect, test } from "vitest";
import {
  Code,
  createClient,
  createServiceClient,
  ShipmentsError,
  ShipmentService,
  ShipmentStatus,
  type Client,
  type PickupSlot,
} from "../../src/client/client.ts";
import { bookAnd, NO_REFERENCE, PRICE_FACTS, RPC_BOOKING, RPC_ROUTE } from "../support/bookings.ts";
import { scheduleOf } from "../support/schedules.ts";
import { sharedService, startService, type TestService } from "../support/service.ts";
import { worldTariff } from "../support/tariffs.ts";

let service: TestService;
let key: string;
let client: Client;

beforeAll(async () => {
  service = await sharedService();
  const { twin } = await service.addWorkspace();
  key = twin.apiKey;
  client = createClient({ url: service.httpUrl, key });
});

async function failure(call: Promise<unknown>): Promise<ShipmentsError> {
  const error: unknown = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof ShipmentsError) return error;
  throw new Error(`not a ShipmentsError: ${String(error)}`);
}

/** Returns all properties of a refusal. */
function errorFields({ message, reason, code, fields, facts, requestId, retryAfterMs }: ShipmentsError) {
  return { message, reason, code: Code[code], fields, facts, requestId, retryAfterMs };
}

test("books a quote at its price", async () => {
  const quote = await client.quotes.createQuote(RPC_ROUTE);
  const { data } = await client.shipments.createShipment({ ...RPC_BOOKING, quoteId: quote.id! });
  const { reference, status, total, currency, quoteId } = data!;
  expect({ reference, status, total, currency, quoteId }).toEqual({
    reference: expect.stringMatching(/^SHP-/),
    status: ShipmentStatus.PENDING,
    total: quote.total,
    currency: "USD",
    quoteId: quote.id,
  });
  const found = await client.shipments.getShipment({ shipment: reference });
  expect(found.data).toEqual(data);
});

test("a client for one service makes calls", async () => {
  const shipments = createServiceClient(ShipmentService, { url: service.httpUrl, key });
  const { total, currency } = await shipments.quoteShipment(RPC_ROUTE);
  expect({ total, currency }).toEqual({ total: 12.69, currency: "USD" });
});

test("an error has the reason, the fields, the metadata and the request id", async () => {
  const error = await failure(
    client.shipments.createShipment(
      { ...RPC_BOOKING, expectedTotal: 12 },
      { headers: { "x-request-id": "of-a-test" } },
    ),
  );
  const message = "expected_total is 12 USD, but the booking would cost 12.69 USD.";
  expect(errorFields(error)).toEqual({
    message,
    reason: "PRICE_CHANGED",
    code: "FailedPrecondition",
    fields: { expected_total: [message] },
    facts: PRICE_FACTS,
    requestId: "of-a-test",
    retryAfterMs: 0,
  });
  // The facts have a type once the reason is known.
  expect(error.is("PRICE_CHANGED") && error.facts.total).toBe("12.69");
  expect(error.is("QUOTE_USED")).toBe(false);
});

test("an error lists all invalid fields", async () => {
  const error = await failure(client.quotes.createQuote({ ...RPC_ROUTE, pickupLat: 91, weightKg: 0 }));
  expect(errorFields(error)).toEqual({
    message: "pickup_lat must be greater than or equal to -90 and less than or equal to 90. (and 1 more error)",
    reason: "FIELD_INVALID",
    code: "InvalidArgument",
    fields: {
      pickup_lat: ["pickup_lat must be greater than or equal to -90 and less than or equal to 90."],
      weight_kg: ["weight_kg must be greater than or equal to 0.01."],
    },
    facts: {},
    requestId: expect.any(String),
    retryAfterMs: 0,
  });
});

test("an unknown key is refused, in a call and in a stream", async () => {
  const stranger = createClient({ url: service.httpUrl, key: "shp_of_nobody" });
  const refused = {
    reason: "CREDENTIAL_REFUSED",
    code: "Unauthenticated",
    fields: {},
    facts: {},
    requestId: expect.any(String),
    retryAfterMs: 0,
  };
  const called = await failure(stranger.workspace.getWorkspace({}));
  expect(errorFields(called)).toEqual({ ...refused, message: called.message });
  const watched = await failure(stranger.events.watchEvents({}).next());
  expect(errorFields(watched)).toEqual({ ...refused, message: called.message });
});

test("a list call returns one page, or iterates over all pages", async () => {
  const { twin } = await service.addWorkspace();
  const { shipments } = createClient({ url: service.httpUrl, key: twin.apiKey });
  const booked: string[] = [];
  for (let i = 0; i < 5; i++) {
    booked.unshift((await bookAnd(service, twin.apiKey, []))["reference"] as string);
  }
  const page = await shipments.listShipments({ pageSize: 2 });
  expect(page.data.map(({ reference }) => reference)).toEqual(booked.slice(0, 2));
  const all: string[] = [];
  for await (const { reference } of shipments.listShipments({ pageSize: 2 })) all.push(reference);
  expect(all).toEqual(booked);
});

test("iterates over a list that has a single page", async () => {
  const ids: string[] = [];
  for await (const { id } of client.apiKeys.listApiKeys({})) ids.push(id);
  expect(ids).toEqual((await client.apiKeys.listApiKeys({})).data.map(({ id }) => id));
});

test("books a slot as offered", async () => {
  const schedules = [scheduleOf({ slot_minutes: 300 })];
  const tariff = worldTariff({ base_fee: "5.00", schedules, default_schedule: "day" });
  const now = () => new Date("2026-12-01T12:30:00Z");
  const { httpUrl, addWorkspace } = await startService({ tariff, now });
  const { twin } = await addWorkspace();
  const { shipments } = createClient({ url: httpUrl, key: twin.apiKey });
  const slots = await shipments.listPickupSlots({ ...RPC_ROUTE, days: 2 });
  const offered = slots.data.map(({ localStart, available, price }) => [localStart, available, price]);
  expect(offered).toEqual([
    ["2026-12-01T08:00:00+01:00", false, 5],
    ["2026-12-01T13:00:00+01:00", false, 5],
    ["2026-12-02T08:00:00+01:00", true, 5],
    ["2026-12-02T13:00:00+01:00", true, 5],
  ]);
  const windowOf = ({ start, end }: PickupSlot) => ({ start, end });
  const pickupWindow = windowOf(slots.data[2]!);
  const { data } = await shipments.createShipment({ ...RPC_BOOKING, pickupWindow });
  expect(data!.pickupWindow).toMatchObject({ ...pickupWindow, timeZone: "Europe/Berlin" });
  const passed = await failure(shipments.createShipment({ ...RPC_BOOKING, pickupWindow: windowOf(slots.data[1]!) }));
  expect(passed.is("TOO_SOON") && passed.facts.next_available).toBe("2026-12-02T07:00:00.000Z");
});

test("reads a whole file stream", async () => {
  const pieces: Uint8Array[] = [];
  for await (const { csv } of client.shipments.exportShipments({})) pieces.push(csv);
  expect(Buffer.concat(pieces).toString()).toContain("reference,");
});

test("an idempotency key of the caller books once, also with another client", async () => {
  const again = createClient({ url: service.httpUrl, key });
  const options = { idempotencyKey: "order-4711" };
  const booked = await client.shipments.createShipment(RPC_BOOKING, options);
  expect(await again.shipments.createShipment(RPC_BOOKING, options)).toEqual(booked);
});

test("passes response headers to the callback", async () => {
  const shown: (string | null)[] = [];
  const onHeader = (headers: Headers) => shown.push(headers.get("ratelimit"));
  await client.workspace.getWorkspace({}, { onHeader });
  expect(shown).toEqual([expect.stringMatching(/^"read";r=\d+;t=\d+$/)]);
});

test("a call fails when its signal aborts or its timeout passes", async () => {
  const controller = new AbortController();
  const slow = { headers: { simulate: "slow=10000" } };
  const cancelled = failure(client.workspace.getWorkspace({}, { ...slow, signal: controller.signal }));
  controller.abort();
  expect(errorFields(await cancelled)).toMatchObject({ reason: undefined, code: "Canceled" });
  const late = await failure(client.workspace.getWorkspace({}, { ...slow, timeoutMs: 20 }));
  expect(Code[late.code]).toBe("DeadlineExceeded");
});

test("does not retry a call that fails with a not-found error", async () => {
  let sent = 0;
  const counted: typeof fetch = (...request) => {
    sent++;
    return fetch(...request);
  };
  const { shipments } = createClient({ url: service.httpUrl, key, fetch: counted });
  const error = await failure(shipments.getShipment({ shipment: NO_REFERENCE }));
  expect({ reason: error.reason, sent }).toEqual({ reason: "SHIPMENT_NOT_FOUND", sent: 1 });
});
