import fc from "fast-check";
import { expect, test } from "vitest";
import { nearestByWords, nearestName, onlyCompletion } from "../../src/domain/nearest-name.ts";

const VARIABLES = ["DATABASE_URL", "DATA_DIR", "PORT", "HOST", "GRPC_PORT", "LOG_LEVEL"];

test.each([
  ["DATABSE_URL", "DATABASE_URL"],
  ["database_url", "DATABASE_URL"],
  ["DATABASEURL", "DATABASE_URL"],
  ["DATBAASE_ULR", "DATABASE_URL"],
  ["PROT", "PORT"],
  ["POTR", "PORT"],
  ["GRPCPORT", "GRPC_PORT"],
])("corrects %s to %s", (written, expected) => {
  expect(nearestName(written, VARIABLES)).toBe(expected);
});

test.each(["POST", "HTTP_PORT", "REDIS_SERVICE_PORT", "PATH", "DATABASE", "GRPC_HOST", "", "P", "X".repeat(1e6)])(
  "finds no correction for %.20s",
  (written) => {
    expect(nearestName(written, VARIABLES)).toBeUndefined();
  },
);

test("finds no correction if several names are equally near", () => {
  expect(nearestName("pickup_lxx", ["pickup_lat", "pickup_lng"])).toBeUndefined();
  expect(nearestName("pickup_lag", ["pickup_lat", "pickup_lng"])).toBeUndefined();
  expect(nearestName("pickup_laq", ["pickup_lat", "pickup_laz", "pickup_lax"])).toBeUndefined();
  expect(nearestName("PROT", ["PORT", "PORT"])).toBe("PORT");
  expect(nearestName("pickup-lat", ["pickup_lat", "pickup_lng"])).toBe("pickup_lat");
});

test("counts typing errors like the full algorithm", () => {
  const name = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 12 });
  fc.assert(
    fc.property(name, name, (written, expected) => {
      const most = written.length < 4 ? 0 : written.length < 8 ? 1 : 2;
      const isNear = typingErrors(written, expected) <= most;
      expect(nearestName(written, [expected])).toBe(isNear ? expected : undefined);
    }),
    { numRuns: 5_000 },
  );
});

/** Computes the optimal string alignment distance directly from its definition. */
function typingErrors(a: string, b: string): number {
  const [i, j] = [a.length, b.length];
  const table = Array.from({ length: i + 1 }, (_, x) =>
    Array.from({ length: j + 1 }, (_, y) => (x === 0 || y === 0 ? x + y : 0)),
  );
  for (let x = 1; x <= i; x++) {
    for (let y = 1; y <= j; y++) {
      const wrong = a[x - 1] === b[y - 1] ? 0 : 1;
      const errors = [table[x - 1]![y]! + 1, table[x]![y - 1]! + 1, table[x - 1]![y - 1]! + wrong];
      const isExchange = x > 1 && y > 1 && a[x - 1] === b[y - 2] && a[x - 2] === b[y - 1];
      if (isExchange) errors.push(table[x - 2]![y - 2]! + 1);
      table[x]![y] = Math.min(...errors);
    }
  }
  return table[i]![j]!;
}

test.each([
  ["weight_kg", "weight"],
  ["weight_kg", "weightKg"],
  ["weight_kg", "weight_in_kilograms"],
  ["weight_kg", "parcelWeightKg"],
  ["customer_email", "email"],
  ["pickup_lng", "pickupLongitude"],
  ["pickup_lng", "pickup_lon"],
  ["pickup_lat", "lat"],
])("matches %s with %s by its words", (name, written) => {
  expect(nearestByWords(name, ["note", written, "dropoff"])).toBe(written);
});

test.each([
  ["pickup_address", "id"],
  ["pickup_lat", "dropoff_latitude"],
  ["weight_kg", "height_cm"],
  ["customer_name", ""],
  ["customer_name", "_"],
])("does not match %s with %j", (name, written) => {
  expect(nearestByWords(name, [written])).toBeUndefined();
});

test.each([
  ["SHUTDOWN_DELAY", ["SHUTDOWN_DELAY_SECONDS", "PORT"], "SHUTDOWN_DELAY_SECONDS"],
  ["webhook_loopback", ["WEBHOOK_ALLOW_LOOPBACK_HTTP"], "WEBHOOK_ALLOW_LOOPBACK_HTTP"],
  // A single word is too ambiguous to be completed.
  ["LOG", ["LOG_LEVEL"], undefined],
  ["STRIPE_KEY", ["STRIPE_SECRET_KEY", "STRIPE_TEST_SECRET_KEY"], undefined],
  ["KUBERNETES_PORT", ["PORT"], undefined],
])("the only completion of %s among %j is %s", (name, names, completion) => {
  expect(onlyCompletion(name, names)).toBe(completion);
});
