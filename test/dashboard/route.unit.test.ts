import { expect, test } from "vitest";
import { isComplete, outsideOf, pointOf, routeOf, typed } from "../../src/dashboard/shipments/route.ts";

const ROUTE = {
  pickup_lat: "40,758",
  pickup_lng: " -73.9855 ",
  dropoff_lat: "95",
  dropoff_lng: "-73.9442",
  weight_kg: "",
};

test("numbers accept a point or a comma, and other text is NaN", () => {
  expect(routeOf({ ...ROUTE, dropoff_lng: "west" })).toEqual({
    pickupLat: 40.758,
    pickupLng: -73.9855,
    dropoffLat: 95,
    dropoffLng: NaN,
    weightKg: undefined,
  });
});

test("a route is complete when every field has a number", () => {
  expect(isComplete(ROUTE)).toBe(false);
  expect(isComplete({ ...ROUTE, weight_kg: "2.5" })).toBe(true);
  expect(isComplete({ ...ROUTE, weight_kg: "heavy" })).toBe(false);
});

test("a point must be on the sphere", () => {
  expect(pointOf(ROUTE, "pickup")).toEqual({ lat: 40.758, lng: -73.9855 });
  expect(pointOf(ROUTE, "dropoff")).toBe(undefined);
});

test.each([
  ["40.758, -73.9855", { pickup_lat: "40.758", pickup_lng: "-73.9855" }],
  ["40.758 -73.9855", { pickup_lat: "40.758", pickup_lng: "-73.9855" }],
  ["40.758,-73.9855", { pickup_lat: "40.758", pickup_lng: "-73.9855" }],
  ["40,758", { pickup_lat: "40,758" }],
  ["40.758", { pickup_lat: "40.758" }],
])("%s typed into a latitude changes %o", (text, changes) => {
  expect(typed("pickup", "lat", text)).toEqual(changes);
});

test("the distance outside is in kilometers from 1 km on, and undefined for covered ends", () => {
  expect(outsideOf({ pickupOutsideMeters: 36_871, dropoffOutsideMeters: 321 })).toEqual({
    pickup: "37 km",
    dropoff: "321 m",
  });
  expect(outsideOf({})).toEqual({ pickup: undefined, dropoff: undefined });
  expect(outsideOf(undefined)).toEqual({ pickup: undefined, dropoff: undefined });
});
