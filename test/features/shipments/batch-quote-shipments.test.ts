import { expect, test } from "vitest";
import { summarize } from "../../../src/domain/refusal.ts";
import { invalidFields } from "../../support/answers.ts";
import { BOOKING_PRICE, COVERED_ROUTE, RPC_ROUTE, WITHOUT_WINDOWS } from "../../support/bookings.ts";
import { sharedService } from "../../support/service.ts";

const service = await sharedService();
// Quotes need no payment provider.
const { apiKey } = await service.addWorkspace({ paymentProvider: undefined });
const caller = service.as(apiKey);

const QUOTED = {
  quote: { covered: true, message: null, failure_type: null, ...BOOKING_PRICE, ...WITHOUT_WINDOWS },
  error: null,
};

test("returns each result of a batch in the order of its routes, including invalid ones", async () => {
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
  const { status, body } = await caller.batchQuoteShipments({ routes });
  const refused = (...errors: { field: string; text: unknown }[]) => {
    const message = summarize(errors[0]!.text as string, errors.length);
    return { quote: null, error: { message, errors, metadata: {} } };
  };
  const required = Object.keys(COVERED_ROUTE).map((field) => ({
    field,
    text: `${field} is required.`,
  }));
  const notAnObject = refused({ field: "", text: "The route must be an object." });
  expect({ status, results: body.results }).toEqual({
    status: 200,
    results: [
      QUOTED,
      { quote: expect.objectContaining({ covered: false, failure_type: "coverage" }), error: null },
      notAnObject,
      QUOTED,
      { quote: expect.objectContaining({ covered: false, failure_type: "weight" }), error: null },
      refused({ field: "", text: "The route must not be null." }),
      refused(...required),
      refused(
        { field: "pickup_lat", text: "pickup_lat must be a number." },
        { field: "weight_kg", text: expect.stringMatching(/^weight_kg .+\.$/) },
      ),
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
  const { body } = await caller.batchQuoteShipments({ routes });
  for (const [i, route] of routes.entries()) {
    const alone = await caller.quoteShipment(route);
    const { quote, error } = body.results[i];
    if (alone.status === 200) {
      expect({ quote, error }).toEqual({ quote: alone.body, error: null });
    } else {
      const errors = Object.entries(alone.body.errors as Record<string, string[]>).flatMap(([field, texts]) =>
        texts.map((text) => ({ field, text })),
      );
      expect({ quote, error }).toEqual({
        quote: null,
        error: { message: alone.body.message, errors, metadata: {} },
      });
    }
  }
});

test("a batch quote over gRPC prices valid routes next to one that JSON cannot represent", async () => {
  const { results } = await service.grpcClient(apiKey).batchQuoteShipments({
    routes: [RPC_ROUTE, { ...RPC_ROUTE, weightKg: Number.NaN }, {}],
  });
  expect(results.map(({ quote, error }) => quote?.total ?? error?.message)).toEqual([
    BOOKING_PRICE.total,
    expect.stringContaining("weight_kg"),
    "pickup_lat is required. (and 4 more errors)",
  ]);
});

test("a batch quote accepts 1 to 100 routes", async () => {
  const most = await caller.batchQuoteShipments({ routes: Array(100).fill(COVERED_ROUTE) });
  expect(most.body.results).toEqual(Array.from({ length: 100 }, () => QUOTED));
  for (const routes of [Array(101).fill(COVERED_ROUTE), [], undefined, null, {}, "x"]) {
    expect(await invalidFields(caller.batchQuoteShipments({ routes }))).toEqual(["routes"]);
  }
});
