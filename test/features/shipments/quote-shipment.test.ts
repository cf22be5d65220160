import { expect, test } from "vitest";
import { data } from "../../support/answers.ts";
import { BOOKING_PRICE, COVERED_ROUTE, WITHOUT_WINDOWS } from "../../support/bookings.ts";
import { sharedService } from "../../support/service.ts";

const AT_SEA = { dropoff_lat: 40.5, dropoff_lng: -73.5 };

const service = await sharedService();
// Quotes need no payment provider.
const { apiKey } = await service.addWorkspace({ paymentProvider: undefined });
const caller = service.as(apiKey);

const NOT_COVERED = {
  covered: false,
  distance_km: 0,
  distance_fee: 0,
  weight_fee: 0,
  base_fee: 5,
  subtotal: 0,
  total: 0,
  currency: "USD",
  ...WITHOUT_WINDOWS,
};
const AWAY = "The dropoff point is outside the coverage zones, 23 km from the nearest one.";
const HEAVY = "No pricing tier covers 999 kg; weights above 0 kg and up to 50 kg are served.";

test.each<[string, changes: object, quote: object]>([
  [
    "a covered route has all its fees",
    {},
    { covered: true, message: null, failure_type: null, ...BOOKING_PRICE, ...WITHOUT_WINDOWS },
  ],
  [
    "a route outside every zone is not covered",
    { ...AT_SEA, weight_kg: 999 },
    { ...NOT_COVERED, message: AWAY, failure_type: "coverage" },
  ],
  [
    "a weight outside the tiers returns the served weights",
    { weight_kg: 999 },
    { ...NOT_COVERED, message: HEAVY, failure_type: "weight" },
  ],
])("a quote writes nothing, and %s", async (_, changes, quote) => {
  const { status, body } = await caller.quoteShipment({ ...COVERED_ROUTE, ...changes });
  expect({ status, body }).toStrictEqual({ status: 200, body: quote });
  expect(await data(caller.listShipments())).toEqual([]);
  expect(await data(caller.listCustomers())).toEqual([]);
});
