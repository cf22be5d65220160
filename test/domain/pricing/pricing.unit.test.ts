import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ring } from "../../support/tariffs.ts";
import { haversineKm } from "../../../src/domain/coverage/geo.ts";
import {
  type CoveredQuote,
  createPricing,
  quote,
  roundKm,
  withWindowFee,
} from "../../../src/domain/pricing/pricing.ts";
import type { Tariff, Tier } from "../../../src/domain/pricing/tariff.ts";

const WEST = { lat: 0, lng: 1 };
const EAST = { lat: 0, lng: 2 };
const AWAY = { lat: 50, lng: 50 };
/** A point on the equator, one degree outside the zone. */
const BESIDE = { lat: 0, lng: 11 };
const BOX = ring("0 -10, 10 -10, 10 10, 0 10, 0 -10");

function tier(minKg: number, maxKg: number, flatFeeMinor = 0, ratePerKgMillionths = 500_000): Tier {
  return { minKg, maxKg, flatFeeMinor, ratePerKgMillionths };
}

const TARIFF: Tariff = {
  currency: "USD",
  minorDigits: 2,
  baseFeeMinor: 500,
  ratePerKmMillionths: 1_200_000,
  tiers: [tier(0, 5), tier(5, 30, 100, 400_000)],
  zones: [{ id: "1", name: "zone 1", polygons: [[BOX]] }],
  scheduling: undefined,
};

function quoteWith(change: Partial<Tariff>, weightKg: number, pickup = WEST, dropoff = EAST) {
  return quote(createPricing({ ...TARIFF, ...change }), { pickup, dropoff, weightKg });
}

describe("a covered route", () => {
  test("costs distance and weight, each rounded to the minor unit", () => {
    expect(quoteWith({}, 12.34)).toEqual({
      covered: true,
      distanceKm: expect.closeTo(111.1950802, 7),
      distanceFeeMinor: 13343, // 111.195… × 1.20 = 133.434…
      weightFeeMinor: 594, // 1.00 + 12.34 × 0.40 = 5.936
      baseFeeMinor: 500,
      subtotalMinor: 13937,
      windowFeeMinor: 0,
      totalMinor: 13937,
      currency: "USD",
    });
  });

  test("costs the fees of its windows in addition to the base fee", () => {
    const cheap = quoteWith({ ratePerKmMillionths: 0 }, 1) as CoveredQuote;
    expect(withWindowFee(cheap, 250)).toEqual({ ...cheap, windowFeeMinor: 250, totalMinor: 750 });
  });

  test("costs at least the base fee", () => {
    expect(quoteWith({}, 1, WEST, WEST)).toEqual({
      covered: true,
      distanceKm: 0,
      distanceFeeMinor: 0,
      weightFeeMinor: 50,
      baseFeeMinor: 500,
      subtotalMinor: 50,
      windowFeeMinor: 0,
      totalMinor: 500,
      currency: "USD",
    });
  });

  test("multiplies the unrounded distance", () => {
    // If the distance were rounded to 111.195 first, the fee would be 111,195,000.
    expect(quoteWith({ ratePerKmMillionths: 10_000_000_000 }, 1)).toMatchObject({
      distanceFeeMinor: 111_195_080,
    });
  });

  test("takes the weight as written", () => {
    expect(quoteWith({ tiers: [tier(0, 5, 0, 1_000_000)] }, 1.005)).toMatchObject({
      weightFeeMinor: 101,
    });
  });

  test.each([
    [0.01, 1],
    [5, 1],
    [5.000001, 2],
    [20, 2],
    [30.5, 3],
    [40, 3],
  ])("of %d kg is in tier %i, above its lower and up to its upper bound", (weightKg, flatFeeMinor) => {
    const tiers = [tier(0, 5, 1, 0), tier(5, 20, 2, 0), tier(30, 40, 3, 0)];
    expect(quoteWith({ tiers }, weightKg)).toMatchObject({ weightFeeMinor: flatFeeMinor });
  });

  test("rounds each fee once if rates are finer than the minor unit", () => {
    const change = {
      currency: "JPY",
      minorDigits: 0,
      baseFeeMinor: 0,
      ratePerKmMillionths: 33_300_000,
      tiers: [tier(0, 5, 100, 1_250)],
    };
    expect(quoteWith(change, 4.8)).toEqual({
      covered: true,
      distanceKm: expect.closeTo(111.1950802, 7),
      distanceFeeMinor: 3703, // 111.195… × 33.3 = 3702.796…. A rate of 33 would make 3669
      weightFeeMinor: 100, // 100 + 4.8 × 0.00125 = 100.006
      baseFeeMinor: 0,
      subtotalMinor: 3803,
      windowFeeMinor: 0,
      totalMinor: 3803,
      currency: "JPY",
    });
  });

  test("may start and end in different zones", () => {
    const there = ring("49 49, 51 49, 51 51, 49 51, 49 49");
    const zones = [...TARIFF.zones, { id: "2", name: "zone 2", polygons: [[there]] }];
    expect(quoteWith({ zones }, 1, WEST, AWAY).covered).toBe(true);
  });
});

describe("an uncovered route", () => {
  const SERVED = "weights above 0 kg and up to 30 kg are served";
  const PICKUP = {
    failure: "coverage",
    message: "The pickup point is outside the coverage zones, 5764 km from the nearest one.",
  };
  const DROPOFF = {
    failure: "coverage",
    message: "The dropoff point is outside the coverage zones, 5764 km from the nearest one.",
  };
  const BOTH = {
    failure: "coverage",
    message: "The pickup and dropoff points are outside the coverage zones, 111 km and 5764 km from the nearest one.",
  };
  const HEAVY = { failure: "weight", message: `No pricing tier covers 60 kg; ${SERVED}.` };

  test.each([
    ["pickup outside", AWAY, EAST, 1, [PICKUP], { pickup: 5_763_659 }],
    ["dropoff outside", WEST, AWAY, 1, [DROPOFF], { dropoff: 5_763_659 }],
    ["both outside", BESIDE, AWAY, 1, [BOTH], { pickup: 111_196, dropoff: 5_763_659 }],
    ["too heavy", WEST, EAST, 60, [HEAVY], {}],
    ["outside and too heavy, coverage first", AWAY, EAST, 60, [PICKUP, HEAVY], { pickup: 5_763_659 }],
  ])("%s", (_, pickup, dropoff, weightKg, failures, outsideMeters) => {
    expect(quoteWith({}, weightKg, pickup, dropoff)).toEqual({
      covered: false,
      failures,
      outsideMeters,
      baseFeeMinor: 500,
      currency: "USD",
    });
  });

  test.each([
    ["just outside", { lat: 0, lng: 10.0899 }, WEST, "pickup point is", "9997 m", ""],
    ["10 km away", { lat: 0, lng: 10.09 }, WEST, "pickup point is", "10 km", ""],
    ["swapped", WEST, { lat: 5, lng: -5 }, "dropoff point is", "554 km", "dropoff"],
    [
      "both swapped",
      { lat: 5, lng: -5 },
      { lat: 0, lng: -1 },
      "pickup and dropoff points are",
      "554 km and 111 km",
      "pickup and dropoff",
    ],
    [
      "only one end swapped",
      AWAY,
      { lat: 5, lng: -5 },
      "pickup and dropoff points are",
      "5764 km and 554 km",
      "dropoff",
    ],
    ["no latitude", { lat: 5, lng: 170 }, WEST, "pickup point is", "17242 km", ""],
  ])("reports its distance to the nearest zone: %s", (_, pickup, dropoff, ends, away, exchanged) => {
    const hint = exchanged && `; latitude and longitude of the ${exchanged} look swapped`;
    const message = `The ${ends} outside the coverage zones, ${away} from the nearest one${hint}.`;
    expect(quoteWith({}, 1, pickup, dropoff)).toMatchObject({
      covered: false,
      failures: [{ failure: "coverage", message }],
    });
  });

  test("has no distance to the nearest zone without zones", () => {
    const failures = [
      {
        failure: "coverage",
        message: "The pickup and dropoff points are outside the coverage zones.",
      },
    ];
    expect(quoteWith({ zones: [] }, 1)).toMatchObject({ covered: false, failures });
  });

  test.each([
    ["none", [], "no weights are served at present"],
    ["one range", [tier(1, 5)], "weights above 1 kg and up to 5 kg are served"],
    ["adjacent ranges as one", [tier(0, 5), tier(5, 7.5)], "weights above 0 kg and up to 7.5 kg are served"],
    [
      "a gap",
      [tier(0, 5), tier(10, 20), tier(20, 30)],
      "weights above 0 kg and up to 5 kg, or above 10 kg and up to 30 kg are served",
    ],
    [
      "six ranges",
      [1, 3, 5, 7, 9, 11].map((kg) => tier(kg, kg + 1)),
      "weights above 1 kg and up to 2 kg, or above 3 kg and up to 4 kg, or above 5 kg and up to 6 kg, " +
        "or above 7 kg and up to 8 kg, or above 9 kg and up to 10 kg, or in 1 further range are served",
    ],
    [
      "a thousand ranges",
      Array.from({ length: 1000 }, (_, i) => tier(i * 2 + 1, i * 2 + 2)),
      "weights above 1 kg and up to 2 kg, or above 3 kg and up to 4 kg, or above 5 kg and up to 6 kg, " +
        "or above 7 kg and up to 8 kg, or above 9 kg and up to 10 kg, or in 995 further ranges are served",
    ],
  ])("lists the served weights: %s", (_, tiers, served) => {
    expect(quoteWith({ tiers }, 0.5 + 5000)).toMatchObject({
      failures: [{ failure: "weight", message: `No pricing tier covers 5000.5 kg; ${served}.` }],
    });
  });

  test("has no tier for a weight in a gap", () => {
    const tiers = [tier(0, 5), tier(10, 20)];
    expect([5.01, 10].map((kg) => quoteWith({ tiers }, kg).covered)).toEqual([false, false]);
  });
});

describe("any quote", () => {
  const amount = fc.nat({ max: 10_000_000_000 });
  const rateMillionths = fc.maxSafeNat().map((n) => n % 1_000_000_000_001);
  const lat = fc.double({ min: -20, max: 20, noNaN: true });
  const point = fc.record({ lat, lng: lat });
  const tiers = fc
    .uniqueArray(fc.nat({ max: 100_000 }), { minLength: 2, maxLength: 20 })
    .map((bounds) => bounds.toSorted((a, b) => a - b))
    .chain((bounds) =>
      fc
        .array(fc.tuple(fc.boolean(), amount, rateMillionths), {
          minLength: bounds.length,
          maxLength: bounds.length,
        })
        .map((fees) =>
          bounds.slice(1).flatMap((maxKg, i) => {
            const [used, flat, rate] = fees[i]!;
            return used ? [tier(bounds[i]!, maxKg, flat, rate)] : [];
          }),
        ),
    );

  test("adds up, is a safe integer, and uses the same tier as a linear search", () => {
    fc.assert(
      fc.property(
        fc.record({ baseFeeMinor: amount, ratePerKmMillionths: rateMillionths, tiers }),
        fc.record({
          pickup: point,
          dropoff: point,
          weightKg: fc.double({ min: 0.01, max: 110_000, noNaN: true }),
        }),
        (change, route) => {
          const result = quote(createPricing({ ...TARIFF, ...change }), route);
          const inBox = [route.pickup, route.dropoff].every((p) => p.lng >= 0 && p.lng <= 10 && Math.abs(p.lat) <= 10);
          const found = change.tiers.find((t) => t.minKg < route.weightKg && route.weightKg <= t.maxKg);
          expect(result.covered).toBe(inBox && found !== undefined);
          if (!result.covered) {
            const failures = [...(inBox ? [] : ["coverage"]), ...(found ? [] : ["weight"])];
            expect(result.failures.map((failure) => failure.failure)).toEqual(failures);
            return;
          }
          expect(result.distanceKm).toBe(haversineKm(route.pickup, route.dropoff));
          expect(result.subtotalMinor).toBe(result.distanceFeeMinor + result.weightFeeMinor);
          expect(result.totalMinor).toBe(Math.max(result.subtotalMinor, change.baseFeeMinor));
          expect(Number.isSafeInteger(result.totalMinor)).toBe(true);
        },
      ),
      { numRuns: 5000 },
    );
  });

  test("stays a safe integer at every bound", () => {
    const mostMinor = 10_000_000_000;
    const mostMillionths = 1_000_000_000_000;
    const everywhere = ring("-180 -90, 180 -90, 180 90, -180 90, -180 -90");
    const result = quoteWith(
      {
        currency: "CLF",
        minorDigits: 4,
        baseFeeMinor: mostMinor,
        ratePerKmMillionths: mostMillionths,
        tiers: [tier(0, 100_000, mostMinor, mostMillionths)],
        zones: [{ id: "1", name: "world", polygons: [[everywhere]] }],
      },
      100_000,
      { lat: 0, lng: 0 },
      { lat: 0, lng: 180 },
    );
    expect(result).toMatchObject({ covered: true, weightFeeMinor: 1_000_010_000_000_000 });
    expect(result.covered && Number.isSafeInteger(result.totalMinor)).toBe(true);
  });
});

test.each([
  [0, 0],
  [9.1372145, 9.137],
  [1.0005, 1.001],
  [1.0004999, 1],
  [20015.114442035923, 20015.114],
])("roundKm(%d) is %d", (distanceKm, shown) => {
  expect(roundKm(distanceKm)).toBe(shown);
});
