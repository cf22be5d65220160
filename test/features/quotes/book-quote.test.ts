import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import { QuoteService } from "../../../gen/shipments/v1/quote_service_pb.js";
import { minorDigitsOf } from "../../../src/domain/pricing/money.ts";
import {
  BOOKED_SHIPMENT,
  BOOKING,
  BOOKING_PRICE,
  COVERED_ROUTE,
  RPC_BOOKING,
  RPC_ROUTE,
  takeStep,
} from "../../support/bookings.ts";
import { connectTo } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import type { Answer } from "../../support/endpoints.ts";
import { publishDocument } from "../../support/publish-document.ts";
import { rpcError } from "../../support/rpc-error.ts";
import { startReplica, startService } from "../../support/service.ts";
import { SAMPLE_TARIFF, worldTariff } from "../../support/tariffs.ts";

let now = new Date("2026-11-22T12:00:00.000Z");
const service = await startService({ now: () => now });
const replica = await startReplica(service.databaseUrl, { now: () => now });
const sql = await connectTo(service.databaseUrl);

let apiKey: string;
beforeEach(async () => {
  ({ apiKey } = await service.addWorkspace());
  await publish(SAMPLE_TARIFF);
});

/** Publishes a tariff, and waits until both replicas quote by it. */
async function publish(document: object, options: { readonly honoursQuotes?: boolean } = {}) {
  const { version } = await publishDocument(service.app.em, document, options);
  for (const at of [service, replica]) {
    await eventually("quotes by the tariff", async () => {
      const { body } = await at.request("/v1/quotes", { apiKey, body: COVERED_ROUTE });
      return body.tariff_version === version;
    });
  }
}

async function quote(fields: object = {}, key = apiKey): Promise<string> {
  const body = { ...COVERED_ROUTE, ...fields };
  const answer = await service.request("/v1/quotes", { apiKey: key, body });
  expect(answer.status).toBe(201);
  return answer.body.id;
}

/** A booking without the fields of the route. */
const WITHOUT_ROUTE = Object.fromEntries(
  Object.entries(BOOKING).filter(([field]) => !(field in COVERED_ROUTE)),
);

function book(quote_id: string, fields: object = {}, { at = service, key = "" } = {}) {
  return at.request("/v1/shipments", {
    apiKey,
    body: { ...WITHOUT_ROUTE, quote_id, ...fields },
    headers: key === "" ? {} : { "idempotency-key": key },
  });
}

/** How many shipments and used quotes there are. */
async function counts() {
  const { rows } = await sql.query(
    "select (select count(*)::int from shipment) as shipments, (select count(*)::int from used_quote) as used",
  );
  return rows[0];
}

const refusalOf = ({ status, code, body }: Answer) => ({ status, code, ...body });

/** Checks that a refused booking wrote nothing. */
async function refused(booking: () => ReturnType<typeof book>) {
  const before = await counts();
  const answer = await booking();
  expect(await counts()).toEqual(before);
  return refusalOf(answer);
}

/** The price of the booking by `dearer()`, among the facts of a refusal. */
const DEARER_FACTS = {
  distance_km: "9.532",
  distance_fee: "11.44",
  weight_fee: "1.25",
  base_fee: "20",
  subtotal: "12.69",
  window_fee: "0",
  total: "20",
  currency: "USD",
};

const dearer = (changes: object = { base_fee: "20.00" }) => ({ ...SAMPLE_TARIFF, ...changes });

describe("a booking by a quote", () => {
  test("takes the route from it, shows it with the parts of the price, and uses it up", async () => {
    const quote_id = await quote();
    const { status, body } = await book(quote_id);
    expect({ status, body }).toEqual({
      status: 201,
      body: { data: { ...BOOKED_SHIPMENT, quote_id } },
    });
    const path = `/v1/shipments/${body.data.reference}`;
    expect((await service.request(path, { apiKey })).body).toEqual(body);
    const listed = await service.request("/v1/shipments", { apiKey });
    expect(listed.body.data).toEqual([body.data]);
    const events = await service.request(`${path}/events`, { apiKey });
    expect(events.body.data[0].data).toEqual(body.data);
  });

  test("may say what the quote says", async () => {
    expect((await book(await quote(), { ...COVERED_ROUTE, expected_total: 12.69 })).status).toBe(
      201,
    );
  });

  test("by gRPC is one by JSON", async () => {
    const client = service.grpcClient(apiKey, QuoteService);
    const { id, total } = await client.createQuote(RPC_ROUTE);
    const { pickupLat: _, ...withoutPickupLat } = RPC_BOOKING;
    const shipments = service.grpcClient(apiKey);
    const { data } = await shipments.createShipment({ ...withoutPickupLat, quoteId: id! });
    expect(data).toMatchObject({ ...RPC_BOOKING_PLACE, quoteId: id, total });
    const again = shipments.createShipment({ ...RPC_BOOKING, quoteId: id!, weightKg: 3 });
    expect(await rpcError(again)).toMatchObject({
      code: "AlreadyExists",
      details: {
        ErrorInfo: { reason: "QUOTE_USED", metadata: { shipment: data!.reference } },
      },
    });
  });
});

const RPC_BOOKING_PLACE = { pickupLat: RPC_BOOKING.pickupLat, weightKg: RPC_BOOKING.weightKg };

describe("when another tariff is published", () => {
  test("the price of the quote holds on every replica, and the next quote has the new one", async () => {
    const ids = [await quote(), await quote()];
    await publish(dearer());
    for (const at of [service, replica]) {
      const { status, body } = await book(ids.pop()!, {}, { at });
      expect(status).toBe(201);
      expect(body.data).toMatchObject(BOOKED_SHIPMENT_PRICE);
    }
    const [row] = (await sql.query("select distinct tariff_version from shipment")).rows;
    expect(row).toEqual({ tariff_version: expect.any(Number) });
    const without = await service.request("/v1/shipments", { apiKey, body: BOOKING });
    expect(without.body.data).toMatchObject({ total: 20 });
  });

  test("a change of the route prices anew by it, and says by which parts", async () => {
    const quote_id = await quote();
    await publish(dearer());
    const { reference } = (await book(quote_id)).body.data;
    const { status, body } = await service.request(`/v1/shipments/${reference}`, {
      apiKey,
      method: "PATCH",
      body: { weight_kg: 2 },
    });
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      quote_id,
      base_fee: 20,
      total: 20,
      breakdown: [
        { kind: "distance", quantity: 9.532, unit: "km", rate: 1.2, amount: 11.44 },
        { kind: "weight", quantity: 2, unit: "kg", rate: 0.5, amount: 1 },
        { kind: "minimum", quantity: 1, unit: "shipment", rate: 7.56, amount: 7.56 },
      ],
    });
  });

  test("whether the route and the weight are served is as it says, before anything about the quote", async () => {
    const quote_id = await quote();
    await publish(dearer({ tiers: [] }));
    expect(await refused(() => book(quote_id))).toEqual({
      status: 422,
      code: "WEIGHT_NOT_SERVED",
      message: "No pricing tier covers 2.5 kg; no weights are served at present.",
      errors: { weight_kg: ["No pricing tier covers 2.5 kg; no weights are served at present."] },
    });
  });

  test("one that does not honour quotes voids those of before, and no later ones", async () => {
    const [voided, kept] = [await quote(), await quote()];
    await publish(dearer(), { honoursQuotes: false });
    const text =
      "The prices have changed, and quotes of before are not honoured; by now the shipment would cost 20 USD. Ask for a new quote.";
    expect(await refused(() => book(voided))).toEqual({
      status: 422,
      code: "QUOTE_VOID",
      message: text,
      errors: { quote_id: [text] },
      metadata: DEARER_FACTS,
    });
    const later = await quote();
    await publish(dearer({ base_fee: "30.00" }));
    expect(await refused(() => book(kept))).toMatchObject({ code: "QUOTE_VOID" });
    expect((await book(later)).body.data).toMatchObject({ total: 20 });
  });

  test("one whose time has not come, or that was called off, voids nothing", async () => {
    const quote_id = await quote();
    await publish(dearer(), { honoursQuotes: false });
    await sql.query(
      "update tariff_version set called_off_at = now() where version = (select max(version) from tariff_version)",
    );
    expect((await book(quote_id)).status).toBe(201);
    const another = await quote();
    await publish(dearer({ base_fee: "31.00" }), { honoursQuotes: false });
    await sql.query(
      "update tariff_version set effective_at = now() + interval '1 day' where version = (select max(version) from tariff_version)",
    );
    expect((await book(another)).status).toBe(201);
    await sql.query(
      "update tariff_version set effective_at = now(), called_off_at = now() where version = (select max(version) from tariff_version)",
    );
  });
});

const BOOKED_SHIPMENT_PRICE = { ...BOOKING_PRICE, breakdown: BOOKED_SHIPMENT["breakdown"] };

describe("one quote is booked once", () => {
  const usedError = (reference: string) => {
    const message = `quote_id was booked already, as the shipment ${reference}.`;
    return {
      status: 409,
      code: "QUOTE_USED",
      message,
      errors: { quote_id: [message] },
      metadata: { shipment: reference },
    };
  };

  test("a second booking is told the shipment, also when it says something else", async () => {
    const id = await quote();
    const { reference } = (await book(id)).body.data;
    for (const fields of [{}, { weight_kg: 3 }, { external_reference: "other" }]) {
      expect(await refused(() => book(id, fields))).toEqual(usedError(reference));
    }
    await takeStep(service, apiKey, reference, "cancel");
    expect(await refused(() => book(id))).toEqual(usedError(reference));
  });

  test("of bookings that race, on one replica or two, one makes a shipment", async () => {
    for (const fields of [() => ({}), (i: number) => ({ external_reference: `order ${i}` })]) {
      const id = await quote();
      const before = await counts();
      const answers = await Promise.all(
        Array.from({ length: 12 }, (_, i) =>
          book(id, fields(i), { at: i % 2 === 0 ? service : replica }),
        ),
      );
      const made = answers.filter(({ status }) => status === 201);
      expect(made).toHaveLength(1);
      const { reference } = made[0]!.body.data;
      const others = answers.filter(({ status }) => status !== 201);
      for (const answer of others) expect(refusalOf(answer)).toEqual(usedError(reference));
      expect(await counts()).toEqual({ shipments: before.shipments + 1, used: before.used + 1 });
    }
  });

  test("a repetition under its idempotency key is answered as the first, also once it has expired", async () => {
    const id = await quote({ valid_for_seconds: 60 });
    const first = await book(id, {}, { key: "again" });
    now = new Date(now.getTime() + 60_000);
    const again = await book(id, {}, { key: "again" });
    expect([again.status, again.body]).toEqual([201, first.body]);
    const { reference } = first.body.data;
    expect(await refused(() => book(id, {}, { key: "other" }))).toEqual(usedError(reference));
  });
});

test("a quote holds until it expires, and then tells the price of now", async () => {
  const [id, late] = [
    await quote({ valid_for_seconds: 60 }),
    await quote({ valid_for_seconds: 60 }),
  ];
  await publish(dearer());
  now = new Date(now.getTime() + 59_999);
  expect((await book(id)).body.data).toMatchObject(BOOKING_PRICE);
  now = new Date(now.getTime() + 1);
  const message = `The quote expired at ${now.toISOString()}; by now the shipment would cost 20 USD. Ask for a new quote.`;
  expect(await refused(() => book(late))).toEqual({
    status: 422,
    code: "QUOTE_EXPIRED",
    message,
    errors: { quote_id: [message] },
    metadata: { ...DEARER_FACTS, expired_at: now.toISOString() },
  });
  const byGrpc = service.grpcClient(apiKey).createShipment({ ...RPC_BOOKING, quoteId: late });
  expect(await rpcError(byGrpc)).toMatchObject({
    code: "FailedPrecondition",
    details: {
      ErrorInfo: {
        reason: "QUOTE_EXPIRED",
        metadata: { ...DEARER_FACTS, expired_at: now.toISOString() },
      },
    },
  });
});

describe("a booking that differs from its quote is refused for", () => {
  const places: readonly (readonly [string, number])[] = [
    ["pickup_lat", 40.7581],
    ["pickup_lng", -73.9856],
    ["dropoff_lat", 40.6783],
    ["dropoff_lng", -73.9443],
    ["weight_kg", 2.51],
  ];
  const textOf = (field: string, value: number) =>
    `${field} is ${value}, but ${(COVERED_ROUTE as any)[field]} in the quote; leave it out, or ask for another quote.`;

  test.each(places)("%s", async (field, value) => {
    const id = await quote();
    const message = textOf(field, value);
    expect(await refused(() => book(id, { [field]: value }))).toEqual({
      status: 422,
      code: "QUOTE_MISMATCH",
      message,
      errors: { [field]: [message] },
      metadata: { [field]: String((COVERED_ROUTE as any)[field]) },
    });
    expect((await book(id)).status).toBe(201);
  });

  test("all that differs at once", async () => {
    const id = await quote();
    expect(await refused(() => book(id, Object.fromEntries(places)))).toMatchObject({
      code: "QUOTE_MISMATCH",
      errors: Object.fromEntries(places.map(([field, value]) => [field, [textOf(field, value)]])),
      metadata: Object.fromEntries(Object.entries(COVERED_ROUTE).map(([k, v]) => [k, String(v)])),
    });
  });
});

describe("a quote that there is not", () => {
  const UNKNOWN = {
    status: 422,
    code: "QUOTE_UNKNOWN",
    message: "quote_id is no quote of the workspace, or one of days ago; ask for a new quote.",
    errors: {
      quote_id: ["quote_id is no quote of the workspace, or one of days ago; ask for a new quote."],
    },
  };

  test("is unknown, alike for another workspace's, with and without a route", async () => {
    const other = await service.addWorkspace();
    const foreign = await quote({}, other.apiKey);
    const own = await quote();
    const changed = own.slice(0, -1) + (own.endsWith("A") ? "Q" : "A");
    const spelled = [`${own}==`, `${own}A`, own.slice(0, -1), own.slice(4), own.toUpperCase()];
    for (const id of [foreign, changed, ...spelled, "quo_", "nonsense"]) {
      expect(await refused(() => book(id))).toEqual(UNKNOWN);
      expect(await refused(() => book(id, COVERED_ROUTE))).toEqual(UNKNOWN);
    }
  });

  test("is too long with 256 characters, and none when blank", async () => {
    const long = await book("q".repeat(256));
    expect([long.status, Object.keys(long.body.errors)]).toEqual([422, ["quote_id"]]);
    const blank = await book("  ");
    expect([blank.status, blank.body.errors]).toEqual([
      422,
      Object.fromEntries(Object.keys(COVERED_ROUTE).map((it) => [it, [`${it} is required.`]])),
    ]);
  });
});

test("fields that are wrong are told as ever, whatever the quote says", async () => {
  const { status, body } = await book(await quote(), { weight_kg: "2", customer_email: "none" });
  expect([status, Object.keys(body.errors).toSorted()]).toEqual([
    422,
    ["customer_email", "weight_kg"],
  ]);
});

test("a quote and its booking agree in every currency, whatever is published in between", async () => {
  // JSON has no -0.
  const double = (min: number, max: number) =>
    fc.double({ min, max, noNaN: true }).map((it) => it + 0);
  const routes = fc.record({
    pickup_lat: double(-90, 90),
    pickup_lng: double(-180, 180),
    dropoff_lat: double(-90, 90),
    dropoff_lng: double(-180, 180),
    weight_kg: double(0.01, 1_000),
  });
  // A currency with no decimals, with two, three and four.
  for (const [currency, fee] of Object.entries({
    JPY: "700",
    USD: "7.01",
    KWD: "7.001",
    CLF: "7.0001",
  })) {
    const tiers = [{ min_kg: 0, max_kg: 1_000, flat_fee: fee, rate_per_kg: "0.123457" }];
    await publish(worldTariff({ currency, base_fee: fee, rate_per_km: "1.234567", tiers }));
    const body = { routes: fc.sample(routes, 8) };
    const { results } = (await service.request("/v1/quotes/batch", { apiKey, body })).body;
    await publish(worldTariff({ currency: "EUR", rate_per_km: "2" }));
    for (const [i, { quote: quoted }] of results.entries()) {
      const { body: booked } = await book(quoted.id);
      const { distance_km, distance_fee, weight_fee, base_fee, subtotal, total } = quoted;
      expect(booked.data).toMatchObject({
        ...body.routes[i],
        distance_km,
        distance_fee,
        weight_fee,
        base_fee,
        subtotal,
        total,
        currency,
        breakdown: quoted.breakdown,
      });
      const minor = 10 ** (minorDigitsOf(currency) ?? 0);
      const units = quoted.breakdown.map(({ amount }: any) => Math.round(amount * minor));
      expect(units.reduce((sum: number, unit: number) => sum + unit, 0)).toBe(
        Math.round(total * minor),
      );
    }
  }
});
