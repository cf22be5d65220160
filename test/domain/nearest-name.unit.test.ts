import { expect, test } from "vitest";
import { nearestByWords, nearestName } from "../../src/domain/nearest-name.ts";

const VARIABLES = ["DATABASE_URL", "DATA_DIR", "PORT", "HOST", "GRPC_PORT", "LOG_LEVEL"];

test.each([
  ["DATABSE_URL", "DATABASE_URL"],
  ["database_url", "DATABASE_URL"],
  ["DATABASEURL", "DATABASE_URL"],
  ["DATBAASE_ULR", "DATABASE_URL"],
  ["PROT", "PORT"],
  ["POTR", "PORT"],
  ["GRPCPORT", "GRPC_PORT"],
])("%s is taken for %s", (written, meant) => {
  expect(nearestName(written, VARIABLES)).toBe(meant);
});

test.each([
  "POST",
  "HTTP_PORT",
  "REDIS_SERVICE_PORT",
  "PATH",
  "DATABASE",
  "",
  "P",
  "X".repeat(1e6),
])("%.20s is taken for none of them", (written) => {
  expect(nearestName(written, VARIABLES)).toBeUndefined();
});

test("of several that are equally near none is taken", () => {
  expect(nearestName("pickup_lxx", ["pickup_lat", "pickup_lng"])).toBeUndefined();
  expect(nearestName("pickup_lag", ["pickup_lat", "pickup_lng"])).toBeUndefined();
  expect(nearestName("pickup_laq", ["pickup_lat", "pickup_laz", "pickup_lax"])).toBeUndefined();
  expect(nearestName("PROT", ["PORT", "PORT"])).toBe("PORT");
  expect(nearestName("pickup-lat", ["pickup_lat", "pickup_lng"])).toBe("pickup_lat");
});

test.each([
  ["weight_kg", "weight"],
  ["weight_kg", "weightKg"],
  ["weight_kg", "weight_in_kilograms"],
  ["weight_kg", "parcelWeightKg"],
  ["customer_email", "email"],
  ["pickup_lng", "pickupLongitude"],
  ["pickup_lng", "pickup_lon"],
  ["pickup_lat", "lat"],
])("%s is what %s says by its words", (name, written) => {
  expect(nearestByWords(name, ["note", written, "dropoff"])).toBe(written);
});

test.each([
  ["pickup_address", "id"],
  ["pickup_lat", "dropoff_latitude"],
  ["weight_kg", "height_cm"],
  ["customer_name", ""],
  ["customer_name", "_"],
])("%s is not what %j says", (name, written) => {
  expect(nearestByWords(name, [written])).toBeUndefined();
});
