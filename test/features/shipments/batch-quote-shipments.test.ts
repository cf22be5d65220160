import { expect, test } from "vitest";
import { BatchQuoteShipmentsResponseSchema } from "../../../gen/shipments/v1/quote_pb.js";
import {
  BOOKING_PRICE,
  COVERED_ROUTE,
  RPC_ROUTE,
  WITHOUT_WINDOWS,
} from "../../support/bookings.ts";
import { inDialect } from "../../support/dialect.ts";
import { rpcError } from "../../support/rpc-error.ts";
import { sharedService } from "../../support/service.ts";

const service = await sharedService();
// Quotes need no payment provider.
const { apiKey } = await service.addWorkspace({ paymentProvider: undefined });

function quoteAll(routes: unknown) {
  return service.request("/v1/shipments/quote/batch", { apiKey, body: { routes } });
}

const QUOTED = {
  quote: { covered: true, message: null, failure_type: null, ...BOOKING_PRICE, ...WITHOUT_WINDOWS },
  error: null,
};

test("each result of a batch quote is at its route's place, whatever the other routes are", async () => {
  const routes = [
    COVERED_ROUTE,
    { ...COVERED_ROUTE, dropoff_lat: 0, dropoff_lng: 0 },
    "a route",
    COVERED_ROUTE,
    { ...COVERED_ROUTE, weight_kg: 1_000 },
    null,
    {},
    { ...COVERED_ROUTE, pickup_lat: "40.7", weight_kg: 0 },
    [],
    COVERED_ROUTE,
  ];
  const { status, body } = await quoteAll(routes);
  expect(status).toBe(200);
  const required = Object.keys(COVERED_ROUTE).map((field) => ({
    field,
    text: `${field} is required.`,
  }));
  const notAnObject = {
    quote: null,
    error: {
      message: "The route must be an object.",
      errors: [{ field: "", text: "The route must be an object." }],
      metadata: {},
    },
  };
  expect(body).toEqual({
    results: [
      QUOTED,
      { quote: expect.objectContaining({ covered: false, failure_type: "coverage" }), error: null },
      notAnObject,
      QUOTED,
      { quote: expect.objectContaining({ covered: false, failure_type: "weight" }), error: null },
      {
        quote: null,
        error: {
          message: "The route must not be null.",
          errors: [{ field: "", text: "The route must not be null." }],
          metadata: {},
        },
      },
      {
        quote: null,
        error: {
          message: "pickup_lat is required. (and 4 more errors)",
          errors: required,
          metadata: {},
        },
      },
      {
        quote: null,
        error: {
          message: "pickup_lat must be a number. (and 1 more error)",
          errors: [
            { field: "pickup_lat", text: "pickup_lat must be a number." },
            { field: "weight_kg", text: expect.stringMatching(/^weight_kg .+\.$/) },
          ],
          metadata: {},
        },
      },
      notAnObject,
      QUOTED,
    ],
  });
});

test("each result of a batch quote equals a single quote of that route", async () => {
  const routes = [
    COVERED_ROUTE,
    { ...COVERED_ROUTE, pickup_lat: 0 },
    { ...COVERED_ROUTE, weight_kg: 51 },
    { ...COVERED_ROUTE, weight_kg: -1, dropoff_lng: null },
    { ...COVERED_ROUTE, pickup_lat: true, dropoff_lat: 91, extra: 1 },
  ];
  const { body } = await quoteAll(routes);
  for (const [i, route] of routes.entries()) {
    const alone = await service.request("/v1/shipments/quote", { apiKey, body: route });
    const { quote, error } = body.results[i];
    if (alone.status === 200) {
      expect({ quote, error }).toEqual({ quote: alone.body, error: null });
    } else {
      const errors = Object.entries(alone.body.errors as Record<string, string[]>).flatMap(
        ([field, texts]) => texts.map((text) => ({ field, text })),
      );
      expect({ quote, error }).toEqual({
        quote: null,
        error: { message: alone.body.message, errors, metadata: {} },
      });
    }
  }
});

test("a batch quote by gRPC equals one by JSON", async () => {
  const grpc = service.grpcClient(apiKey);
  const answer = await grpc.batchQuoteShipments({
    routes: [RPC_ROUTE, { ...RPC_ROUTE, weightKg: Number.NaN }, {}, RPC_ROUTE],
  });
  expect(inDialect(BatchQuoteShipmentsResponseSchema, answer)).toEqual({
    results: [
      QUOTED,
      {
        quote: null,
        error: {
          message: expect.stringContaining("weight_kg"),
          errors: expect.arrayContaining([{ field: "weight_kg", text: expect.any(String) }]),
          metadata: {},
        },
      },
      { quote: null, error: expect.objectContaining({ errors: expect.any(Array) }) },
      QUOTED,
    ],
  });
});

test("a batch quote takes from one to a hundred routes", async () => {
  const most = await quoteAll(Array.from({ length: 100 }, () => COVERED_ROUTE));
  expect(most.status).toBe(200);
  expect(most.body.results).toEqual(Array.from({ length: 100 }, () => QUOTED));
  for (const routes of [
    Array.from({ length: 101 }, () => COVERED_ROUTE),
    [],
    undefined,
    null,
    {},
    "x",
  ]) {
    const { status, body } = await quoteAll(routes);
    expect(status).toBe(422);
    expect(body).toEqual({
      message: body.errors.routes[0],
      errors: { routes: [expect.any(String)] },
    });
  }
  const grpc = service.grpcClient(apiKey);
  expect(await rpcError(grpc.batchQuoteShipments({ routes: [] }))).toMatchObject({
    code: "InvalidArgument",
    details: { BadRequest: { fieldViolations: [{ field: "routes" }] } },
  });
});
