import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import type { RefusalReason } from "../../../src/domain/refusal.ts";
import { minorDigitsOf } from "../../../src/domain/pricing/money.ts";
import { data, expectRefused, invalidFields } from "../../support/answers.ts";
import { BOOKED_SHIPMENT, BOOKING, BOOKING_PRICE, COVERED_ROUTE, takeStep } from "../../support/bookings.ts";
import { connectTo } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { publishDocument } from "../../support/publish-document.ts";
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

/** Publishes a tariff and waits until both replicas quote with it. */
async function publish(document: object, options: { readonly honoursQuotes?: boolean } = {}) {
  const { version } = await publishDocument(service.app.em, document, options);
  for (const at of [service, replica]) {
    await eventually("quotes with the tariff", async () => {
      const { body } = await at.as(apiKey).createQuote(COVERED_ROUTE);
      return body.tariff_version === version;
    });
  }
}

const quote = async (fields: object = {}, key = apiKey): Promise<string> =>
  (await service.as(key).createQuote({ ...COVERED_ROUTE, ...fields })).body.id;

/** A booking without route fields. */
const WITHOUT_ROUTE = Object.fromEntries(Object.entries(BOOKING).filter(([field]) => !(field in COVERED_ROUTE)));

function book(quote_id: string, fields: object = {}, { at = service, key = "" } = {}) {
  const headers: Record<string, string> = key === "" ? {} : { "idempotency-key": key };
  return at.as(apiKey).createShipment({ ...WITHOUT_ROUTE, quote_id, ...fields }, headers);
}

/** Counts the shipments and the used quotes. */
async function counts() {
  const { rows } = await sql.query(
    "select (select count(*)::int from shipment) as shipments, (select count(*)::int from used_quote) as used",
  );
  return rows[0];
}

/** Expects a booking to be refused without writing anything. */
async function refused(
  booking: () => ReturnType<typeof book>,
  ...refusal: [reason: RefusalReason, errors: Record<string, string>, facts?: object]
) {
  const before = await counts();
  await expectRefused(booking(), ...refusal);
  expect(await counts()).toEqual(before);
}

/** Price of the booking with the tariff from `dearer()`, as facts in a refusal. */
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

describe("a booking with a quote", () => {
  test("uses the quote's route, returns its price components, and marks it as used", async () => {
    const quote_id = await quote();
    const booked = await data(book(quote_id));
    expect(booked).toEqual({ ...BOOKED_SHIPMENT, quote_id });
    const caller = service.as(apiKey);
    const { reference: shipment } = booked;
    expect(await data(caller.getShipment({ shipment }))).toEqual(booked);
    expect(await data(caller.listShipments())).toEqual([booked]);
    expect((await data(caller.listShipmentEvents({ shipment })))[0].data).toEqual(booked);
  });

  test("can repeat the quote's fields", async () => {
    await data(book(await quote(), { ...COVERED_ROUTE, expected_total: 12.69 }));
  });
});

describe("after another tariff is published", () => {
  test("the quote's price applies on every replica, and the next quote has the new price", async () => {
    const ids = [await quote(), await quote()];
    await publish(dearer());
    for (const at of [service, replica]) {
      expect(await data(book(ids.pop()!, {}, { at }))).toMatchObject(BOOKED_SHIPMENT_PRICE);
    }
    const [row] = (await sql.query("select distinct tariff_version from shipment")).rows;
    expect(row).toEqual({ tariff_version: expect.any(Number) });
    expect(await data(service.as(apiKey).createShipment(BOOKING))).toMatchObject({ total: 20 });
  });

  test("a route change is priced with the new tariff, and returns the price components", async () => {
    const quote_id = await quote();
    await publish(dearer());
    const { reference: shipment } = await data(book(quote_id));
    const lighter = await data(service.as(apiKey).updateShipment({ shipment, weight_kg: 2 }));
    expect(lighter).toMatchObject({
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

  test("the booking is rejected before the quote is checked if the new tariff does not serve it", async () => {
    const quote_id = await quote();
    await publish(dearer({ tiers: [] }));
    await refused(() => book(quote_id), "WEIGHT_NOT_SERVED", {
      weight_kg: "No pricing tier covers 2.5 kg; no weights are served at present.",
    });
  });

  test("that does not honor quotes, earlier quotes are void, and later ones are valid", async () => {
    const [voided, kept] = [await quote(), await quote()];
    await publish(dearer(), { honoursQuotes: false });
    const quote_id =
      "The prices have changed, and earlier quotes are no longer valid. The shipment would now cost 20 USD. Request a new quote.";
    await refused(() => book(voided), "QUOTE_VOID", { quote_id }, DEARER_FACTS);
    const later = await quote();
    await publish(dearer({ base_fee: "30.00" }));
    expect((await book(kept)).code).toBe("QUOTE_VOID");
    expect(await data(book(later))).toMatchObject({ total: 20 });
  });

  test("that is scheduled or cancelled, quotes stay valid", async () => {
    const quote_id = await quote();
    await publish(dearer(), { honoursQuotes: false });
    await sql.query(
      "update tariff_version set called_off_at = now() where version = (select max(version) from tariff_version)",
    );
    await data(book(quote_id));
    const another = await quote();
    await publish(dearer({ base_fee: "31.00" }), { honoursQuotes: false });
    await sql.query(
      "update tariff_version set effective_at = now() + interval '1 day' where version = (select max(version) from tariff_version)",
    );
    await data(book(another));
    await sql.query(
      "update tariff_version set effective_at = now(), called_off_at = now() where version = (select max(version) from tariff_version)",
    );
  });
});

const BOOKED_SHIPMENT_PRICE = { ...BOOKING_PRICE, breakdown: BOOKED_SHIPMENT["breakdown"] };

describe("one quote can be booked once", () => {
  const used = (shipment: string) =>
    ["QUOTE_USED", { quote_id: `quote_id was already booked as the shipment ${shipment}.` }, { shipment }] as const;

  test("a second booking is rejected with the shipment's reference, even with other fields", async () => {
    const id = await quote();
    const { reference } = await data(book(id));
    for (const fields of [{}, { weight_kg: 3 }, { external_reference: "other" }]) {
      await refused(() => book(id, fields), ...used(reference));
    }
    await takeStep(service, apiKey, reference, "cancel");
    await refused(() => book(id), ...used(reference));
  });

  test("exactly one of several concurrent bookings creates a shipment, on one or two replicas", async () => {
    for (const fields of [() => ({}), (i: number) => ({ external_reference: `order ${i}` })]) {
      const id = await quote();
      const before = await counts();
      const answers = await Promise.all(
        Array.from({ length: 12 }, (_, i) => book(id, fields(i), { at: i % 2 === 0 ? service : replica })),
      );
      const made = answers.filter(({ status }) => status === 201);
      expect(made).toHaveLength(1);
      const { reference } = made[0]!.body.data;
      const others = answers.filter(({ status }) => status !== 201);
      for (const answer of others) await expectRefused(answer, ...used(reference));
      expect(await counts()).toEqual({ shipments: before.shipments + 1, used: before.used + 1 });
    }
  });

  test("a retry with the idempotency key returns the first response, even after the quote expired", async () => {
    const id = await quote({ valid_for_seconds: 60 });
    const first = await book(id, {}, { key: "again" });
    now = new Date(now.getTime() + 60_000);
    const again = await book(id, {}, { key: "again" });
    expect([again.status, again.body]).toEqual([201, first.body]);
    const { reference } = first.body.data;
    await refused(() => book(id, {}, { key: "other" }), ...used(reference));
  });
});

test("a quote is valid until it expires, and is then rejected with the current price", async () => {
  const [id, late] = [await quote({ valid_for_seconds: 60 }), await quote({ valid_for_seconds: 60 })];
  await publish(dearer());
  now = new Date(now.getTime() + 59_999);
  expect(await data(book(id))).toMatchObject(BOOKING_PRICE);
  now = new Date(now.getTime() + 1);
  const expired_at = now.toISOString();
  const quote_id = `The quote expired at ${expired_at}. The shipment would now cost 20 USD. Request a new quote.`;
  await refused(() => book(late), "QUOTE_EXPIRED", { quote_id }, { ...DEARER_FACTS, expired_at });
});

describe("rejects a booking that differs from its quote in", () => {
  const differences = {
    pickup_lat: 40.7581,
    pickup_lng: -73.9856,
    dropoff_lat: 40.6783,
    dropoff_lng: -73.9443,
    weight_kg: 2.51,
  };
  const cases = Object.entries(differences).map(([field, value]) => [field, { [field]: value }] as const);

  test.each([...cases, ["everything at once", differences] as const])("%s", async (_, fields) => {
    const id = await quote();
    const differing = Object.entries(fields).map(
      ([field, value]) => [field, value, (COVERED_ROUTE as Record<string, number>)[field]] as const,
    );
    const textOf = (field: string, value: number, quoted: unknown) =>
      `${field} is ${value}, but ${String(quoted)} in the quote. Omit it, or request another quote.`;
    await refused(
      () => book(id, fields),
      "QUOTE_MISMATCH",
      Object.fromEntries(differing.map((it) => [it[0], textOf(...it)])),
      Object.fromEntries(differing.map(([field, , quoted]) => [field, String(quoted)])),
    );
    await data(book(id));
  });
});

describe("an invalid quote", () => {
  const UNKNOWN = {
    quote_id: "quote_id is not a quote of this workspace, or it is too old. Request a new quote.",
  };

  test("is unknown, even if it belongs to another workspace, with and without a route", async () => {
    const other = await service.addWorkspace();
    const foreign = await quote({}, other.apiKey);
    const own = await quote();
    const changed = own.slice(0, -1) + (own.endsWith("A") ? "Q" : "A");
    const spelled = [`${own}==`, `${own}A`, own.slice(0, -1), own.slice(4), own.toUpperCase()];
    for (const id of [foreign, changed, ...spelled, "quo_", "nonsense"]) {
      await refused(() => book(id), "QUOTE_UNKNOWN", UNKNOWN);
      await refused(() => book(id, COVERED_ROUTE), "QUOTE_UNKNOWN", UNKNOWN);
    }
  });

  test("is too long with 256 characters, and ignored if blank", async () => {
    expect(await invalidFields(book("q".repeat(256)))).toEqual(["quote_id"]);
    const blank = await book("  ");
    expect([blank.status, blank.body.errors]).toEqual([
      422,
      Object.fromEntries(Object.keys(COVERED_ROUTE).map((it) => [it, [`${it} is required.`]])),
    ]);
  });
});

test("reports invalid fields regardless of the quote", async () => {
  const { status, body } = await book(await quote(), { weight_kg: "2", customer_email: "none" });
  expect([status, Object.keys(body.errors).toSorted()]).toEqual([422, ["customer_email", "weight_kg"]]);
});

test("a quote and its booking agree in every currency, even if tariffs are published in between", async () => {
  // Excludes -0, because JSON does not preserve it.
  const double = (min: number, max: number) => fc.double({ min, max, noNaN: true }).map((it) => it + 0);
  const routes = fc.record({
    pickup_lat: double(-90, 90),
    pickup_lng: double(-180, 180),
    dropoff_lat: double(-90, 90),
    dropoff_lng: double(-180, 180),
    weight_kg: double(0.01, 1_000),
  });
  // Covers currencies with zero, two, three and four decimals.
  for (const [currency, fee] of Object.entries({
    JPY: "700",
    USD: "7.01",
    KWD: "7.001",
    CLF: "7.0001",
  })) {
    const tiers = [{ min_kg: 0, max_kg: 1_000, flat_fee: fee, rate_per_kg: "0.123457" }];
    await publish(worldTariff({ currency, base_fee: fee, rate_per_km: "1.234567", tiers }));
    const body = { routes: fc.sample(routes, 8) };
    const { results } = (await service.as(apiKey).batchCreateQuotes(body)).body;
    await publish(worldTariff({ currency: "EUR", rate_per_km: "2" }));
    for (const [i, { quote: quoted }] of results.entries()) {
      const { reference: shipment } = await data(book(quoted.id));
      const { distance_km, distance_fee, weight_fee, base_fee, subtotal, total } = quoted;
      // The shipment must have the quote's amounts, as stored in minor units.
      expect(await data(service.as(apiKey).getShipment({ shipment }))).toMatchObject({
        ...body.routes[i],
        weight_kg: Math.round(body.routes[i]!.weight_kg * 1e6) / 1e6,
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
      expect(units.reduce((sum: number, unit: number) => sum + unit, 0)).toBe(Math.round(total * minor));
    }
  }
});
