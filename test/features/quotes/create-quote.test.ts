import { describe, expect, test } from "vitest";
import {
  BatchCreateQuotesResponseSchema,
  CreateQuoteResponseSchema,
  QuoteService,
} from "../../../gen/shipments/v1/quote_service_pb.js";
import {
  BOOKING_PRICE,
  COVERED_ROUTE,
  RPC_ROUTE,
  WITHOUT_WINDOWS,
} from "../../support/bookings.ts";
import { connectTo } from "../../support/database.ts";
import { inDialect } from "../../support/dialect.ts";
import { PROTOCOLS, rpcClient } from "../../support/rpc-client.ts";
import { startService } from "../../support/service.ts";

const NOW = new Date("2026-11-22T12:00:00.250Z");
const service = await startService({ now: () => NOW });
// Quotes need no payment provider.
const { apiKey } = await service.addWorkspace({ paymentProvider: undefined });

function quote(fields: object = {}) {
  return service.request("/v1/quotes", { apiKey, body: { ...COVERED_ROUTE, ...fields } });
}

const ANY_ID = expect.stringMatching(/^quo_[A-Za-z0-9_-]{100,251}$/);

const QUOTED = {
  id: ANY_ID,
  covered: true,
  message: null,
  failure_type: null,
  ...BOOKING_PRICE,
  ...WITHOUT_WINDOWS,
  breakdown: [
    { kind: "distance", quantity: 9.532, unit: "km", rate: 1.2, amount: 11.44 },
    { kind: "weight", quantity: 2.5, unit: "kg", rate: 0.5, amount: 1.25 },
  ],
  zones: {
    pickup: { id: expect.stringMatching(/^z_[0-9a-f]{12}$/), name: "New York" },
    dropoff: { id: expect.stringMatching(/^z_[0-9a-f]{12}$/), name: "Kings" },
  },
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
  expires_at: null,
};

const AT_SEA = { dropoff_lat: 40.5, dropoff_lng: -73.5 };

test("a quote has the price with its parts, the zones, the version, and how long it holds", async () => {
  const { status, body } = await quote();
  expect({ status, body }).toStrictEqual({ status: 201, body: QUOTED });
});

test("a route that cannot be served is an answer without an id", async () => {
  const { status, body } = await quote(AT_SEA);
  expect({ status, body }).toStrictEqual({ status: 201, body: NOT_COVERED });
  const { status: again, body: tooHeavy } = await quote({ weight_kg: 80 });
  expect({ again, tooHeavy }).toStrictEqual({
    again: 201,
    tooHeavy: {
      ...NOT_COVERED,
      message: expect.stringMatching(/^No pricing tier covers 80 kg; /),
      failure_type: "weight",
      zones: QUOTED.zones,
    },
  });
});

test.each(["gRPC on the gRPC server", "Connect on the HTTP server"] as const)(
  "a quote by %s equals one by JSON",
  async (protocol) => {
    const client = rpcClient(QuoteService, PROTOCOLS[protocol], service, apiKey);
    const answer = await client.createQuote({ ...RPC_ROUTE, validForSeconds: 60 });
    expect(inDialect(CreateQuoteResponseSchema, answer)).toStrictEqual({
      ...QUOTED,
      expires_at: "2026-11-22T12:01:00.250Z",
    });
    const batch = await client.batchCreateQuotes({ routes: [RPC_ROUTE] });
    expect(inDialect(BatchCreateQuotesResponseSchema, batch)).toStrictEqual({
      results: [{ quote: QUOTED, error: null }],
    });
  },
);

describe("a quote holds for", () => {
  test.each([
    [60, "2026-11-22T12:01:00.250Z"],
    [3_600, "2026-11-22T13:00:00.250Z"],
  ])("%i seconds", async (valid_for_seconds, expires_at) => {
    expect((await quote({ valid_for_seconds })).body).toStrictEqual({ ...QUOTED, expires_at });
  });

  test.each([59, 3_601, 0, 60.5, "900"])("no %j seconds", async (valid_for_seconds) => {
    const { status, body } = await quote({ valid_for_seconds });
    expect(status).toBe(422);
    expect(Object.keys(body.errors)).toEqual(["valid_for_seconds"]);
  });
});

test("each result of a batch is at its route's place, whatever the other routes are", async () => {
  const routes = [
    COVERED_ROUTE,
    { ...COVERED_ROUTE, ...AT_SEA },
    { ...COVERED_ROUTE, valid_for_seconds: 5, weight_kg: "2" },
    "a route",
    { ...COVERED_ROUTE, valid_for_seconds: 60 },
  ];
  const { status, body } = await service.request("/v1/quotes/batch", { apiKey, body: { routes } });
  expect(status).toBe(201);
  expect(body).toStrictEqual({
    results: [
      { quote: QUOTED, error: null },
      { quote: NOT_COVERED, error: null },
      {
        quote: null,
        error: {
          message: "weight_kg must be a number. (and 1 more error)",
          errors: [
            { field: "weight_kg", text: "weight_kg must be a number." },
            { field: "valid_for_seconds", text: expect.stringContaining("60") },
          ],
          metadata: {},
        },
      },
      {
        quote: null,
        error: {
          message: "The route must be an object.",
          errors: [{ field: "", text: "The route must be an object." }],
          metadata: {},
        },
      },
      { quote: { ...QUOTED, expires_at: "2026-11-22T12:01:00.250Z" }, error: null },
    ],
  });
  const ids = body.results.flatMap(({ quote: made }: any) => made?.id ?? []);
  expect(new Set(ids)).toHaveLength(2);
  const tooMany = { routes: Array.from({ length: 101 }, () => COVERED_ROUTE) };
  const refused = await service.request("/v1/quotes/batch", { apiKey, body: tooMany });
  expect({ status: refused.status, keys: Object.keys(refused.body.errors) }).toEqual({
    status: 422,
    keys: ["routes"],
  });
});

test("a key that only reads makes quotes", async () => {
  const made = await service.request("/v1/api_keys", {
    apiKey,
    body: { name: "Shop window", scope: "read_only" },
  });
  const readOnly = made.body.api_key as string;
  const { status } = await service.request("/v1/quotes", { apiKey: readOnly, body: COVERED_ROUTE });
  expect(status).toBe(201);
});

test("quotes go on while the database is away, and none is written", async () => {
  const sql = await connectTo(service.databaseUrl);
  await sql.query("begin");
  // Whatever would read or write waits for this.
  const { rows } = await sql.query(
    "select string_agg(quote_ident(tablename), ', ') as all from pg_tables where schemaname = 'public'",
  );
  await sql.query(`lock table ${rows[0].all} in access exclusive mode`);
  expect((await quote()).body).toStrictEqual(QUOTED);
  await sql.query("rollback");
});
