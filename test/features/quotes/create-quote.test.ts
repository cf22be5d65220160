import { describe, expect, test } from "vitest";
import { BOOKING_BREAKDOWN, BOOKING_PRICE, COVERED_ROUTE, WITHOUT_WINDOWS } from "../../support/bookings.ts";
import { invalidFields } from "../../support/answers.ts";
import { connectTo } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { startService } from "../../support/service.ts";

const NOW = new Date("2026-11-22T12:00:00.250Z");
const service = await startService({ now: () => NOW });
// Quotes need no payment provider.
const { apiKey } = await service.addWorkspace({ paymentProvider: undefined });

const caller = service.as(apiKey);

const quote = (fields: object = {}) => caller.createQuote({ ...COVERED_ROUTE, ...fields });

const ANY_ID = expect.stringMatching(/^quo_[A-Za-z0-9_-]{100,251}$/);

const QUOTED = {
  id: ANY_ID,
  covered: true,
  message: null,
  failure_type: null,
  ...BOOKING_PRICE,
  ...WITHOUT_WINDOWS,
  breakdown: BOOKING_BREAKDOWN,
  zones: {
    pickup: { id: expect.stringMatching(/^z_[0-9a-f]{12}$/), name: "New York" },
    dropoff: { id: expect.stringMatching(/^z_[0-9a-f]{12}$/), name: "Kings" },
  },
  pickup_outside_meters: null,
  dropoff_outside_meters: null,
  tariff_version: 1,
  created_at: "2026-11-22T12:00:00.250Z",
  expires_at: "2026-11-22T12:15:00.250Z",
};

const NOT_COVERED = {
  ...QUOTED,
  id: null,
  covered: false,
  message: "The dropoff point is outside the coverage zones, 23 km from the nearest one.",
  failure_type: "coverage",
  distance_km: 0,
  distance_fee: 0,
  weight_fee: 0,
  subtotal: 0,
  total: 0,
  breakdown: [],
  zones: { ...QUOTED.zones, dropoff: null },
  dropoff_outside_meters: 23_458,
  expires_at: null,
};

const AT_SEA = { dropoff_lat: 40.5, dropoff_lng: -73.5 };

test("a quote has the price and its components, the zones, the version, and its expiry", async () => {
  const { status, body } = await quote();
  expect({ status, body }).toStrictEqual({ status: 201, body: QUOTED });
});

test("an uncovered route returns a response without an id", async () => {
  const { status, body } = await quote(AT_SEA);
  expect({ status, body }).toStrictEqual({ status: 201, body: NOT_COVERED });
  expect((await quote({ weight_kg: 80 })).body).toStrictEqual({
    ...NOT_COVERED,
    message: expect.stringMatching(/^No pricing tier covers 80 kg; /),
    failure_type: "weight",
    zones: QUOTED.zones,
    dropoff_outside_meters: null,
  });
});

describe("the validity of a quote", () => {
  test.each([
    [60, "2026-11-22T12:01:00.250Z"],
    [3_600, "2026-11-22T13:00:00.250Z"],
  ])("can be %i seconds", async (valid_for_seconds, expires_at) => {
    expect((await quote({ valid_for_seconds })).body).toStrictEqual({ ...QUOTED, expires_at });
  });

  test.each([59, 3_601, 0, 60.5, "900"])("cannot be %j seconds", async (valid_for_seconds) => {
    expect(await invalidFields(quote({ valid_for_seconds }))).toEqual(["valid_for_seconds"]);
  });
});

test("returns each result of a batch in the order of its routes, including invalid ones", async () => {
  const routes = [
    COVERED_ROUTE,
    { ...COVERED_ROUTE, ...AT_SEA },
    { ...COVERED_ROUTE, valid_for_seconds: 5, weight_kg: "2" },
    "a route",
    { ...COVERED_ROUTE, valid_for_seconds: 60 },
  ];
  const { status, body } = await caller.batchCreateQuotes({ routes });
  const refused = (message: string, ...errors: { field: string; text: unknown }[]) => ({
    quote: null,
    error: { message, errors, metadata: {} },
  });
  expect({ status, results: body.results }).toStrictEqual({
    status: 201,
    results: [
      { quote: QUOTED, error: null },
      { quote: NOT_COVERED, error: null },
      refused(
        "weight_kg must be a number. (and 1 more error)",
        { field: "weight_kg", text: "weight_kg must be a number." },
        { field: "valid_for_seconds", text: expect.stringContaining("60") },
      ),
      refused("The route must be an object.", { field: "", text: "The route must be an object." }),
      { quote: { ...QUOTED, expires_at: "2026-11-22T12:01:00.250Z" }, error: null },
    ],
  });
  const ids = body.results.flatMap(({ quote: made }: any) => made?.id ?? []);
  expect(new Set(ids)).toHaveLength(2);
  expect(await invalidFields(caller.batchCreateQuotes({ routes: Array(101).fill(COVERED_ROUTE) }))).toEqual(["routes"]);
});

test("a read-only key can create quotes", async () => {
  const made = await caller.createApiKey({ name: "Shop window", scope: "read_only" });
  const { status } = await service.as(made.body.api_key).createQuote(COVERED_ROUTE);
  expect(status).toBe(201);
});

test("quotes succeed while the database is unavailable, because they are not stored", async () => {
  const sql = await connectTo(service.databaseUrl);
  const { rows } = await sql.query(
    "select string_agg(quote_ident(tablename), ', ') as all from pg_tables where schemaname = 'public'",
  );
  // Locks all tables, which blocks reads and writes. Background work may lock them in another order.
  await eventually("all locks", () =>
    sql
      .query(`begin; lock table ${rows[0].all} in access exclusive mode`)
      .catch(() => sql.query("rollback").then(() => false)),
  );
  expect((await quote()).body).toStrictEqual(QUOTED);
  await sql.query("rollback");
});
