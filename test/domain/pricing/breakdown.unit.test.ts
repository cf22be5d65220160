import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { breakDown } from "../../../src/domain/pricing/breakdown.ts";
import { minorDigitsOf, multiplyToMinor } from "../../../src/domain/pricing/money.ts";
import {
  createPricing,
  priceByFees,
  quote,
  quoteWithZones,
  type CoveredQuote,
} from "../../../src/domain/pricing/pricing.ts";
import { parseTariff, type Fees } from "../../../src/domain/pricing/tariff.ts";
import { square, worldTariff, zonesOf } from "../../support/tariffs.ts";

const WEST = { lat: 0, lng: 1 };
const EAST = { lat: 0, lng: 2 };

/** Returns a tariff's fees in US dollars, with `changes`. */
function feesOf(changes: Partial<Fees>): Fees {
  return {
    currency: "USD",
    minorDigits: 2,
    baseFeeMinor: 0,
    ratePerKmMillionths: 1_200_000,
    tiers: [{ minKg: 0, maxKg: 30, flatFeeMinor: 100, ratePerKgMillionths: 400_000 }],
    scheduling: undefined,
    ...changes,
  };
}

test("each window with a fee has a line", () => {
  const fees = feesOf({ ratePerKmMillionths: 0, tiers: [tierOf(0)] });
  const priced = priceByFees(fees, { pickup: WEST, dropoff: WEST, weightKg: 1 })!;
  expect(breakDown(fees, 1, priced, [250, 0, 125])).toEqual([
    { kind: "window", quantity: 1, unit: "window", rate: 2.5, amountMinor: 250 },
    { kind: "window", quantity: 1, unit: "window", rate: 1.25, amountMinor: 125 },
  ]);
});

function tierOf(flatFeeMinor: number) {
  return { minKg: 0, maxKg: 30, flatFeeMinor, ratePerKgMillionths: 0 };
}

function linesOf(fees: Fees, weightKg = 12.34, dropoff = EAST) {
  const priced = priceByFees(fees, { pickup: WEST, dropoff, weightKg })!;
  return breakDown(fees, weightKg, priced, []);
}

const DISTANCE = {
  kind: "distance",
  quantity: 111.195,
  unit: "km",
  rate: 1.2,
  amountMinor: 13_343,
};
const PER_KG = { kind: "weight", quantity: 12.34, unit: "kg", rate: 0.4, amountMinor: 494 };
const FLAT = { kind: "weight", quantity: 1, unit: "shipment", rate: 1, amountMinor: 100 };

describe("the breakdown of a price", () => {
  test("lists the distance, the weight per kilogram and the flat fee of its tier", () => {
    expect(linesOf(feesOf({}))).toEqual([DISTANCE, PER_KG, FLAT]);
  });

  test("lists the remainder up to the minimum charge", () => {
    const missing = { ...FLAT, kind: "minimum", rate: 60.63, amountMinor: 6_063 };
    expect(linesOf(feesOf({ baseFeeMinor: 20_000 }))).toEqual([DISTANCE, PER_KG, FLAT, missing]);
  });

  test("omits lines without a cost", () => {
    expect(linesOf(feesOf({ ratePerKmMillionths: 0 }))).toEqual([PER_KG, FLAT]);
    expect(linesOf(feesOf({}), 12.34, WEST)).toEqual([PER_KG, FLAT]);
    const tiers = [{ minKg: 0, maxKg: 30, flatFeeMinor: 0, ratePerKgMillionths: 0 }];
    expect(linesOf(feesOf({ ratePerKmMillionths: 0, tiers }))).toEqual([]);
  });

  test("is missing if the fees do not match the price", () => {
    const priced = priceByFees(feesOf({}), { pickup: WEST, dropoff: EAST, weightKg: 12 })!;
    expect(breakDown(feesOf({ tiers: [] }), 12, priced, [])).toBeUndefined();
    const tiers = [{ minKg: 0, maxKg: 30, flatFeeMinor: 900, ratePerKgMillionths: 0 }];
    expect(breakDown(feesOf({ tiers }), 12, priced, [])).toBeUndefined();
  });
});

/** Currencies with each possible number of decimals. */
const CURRENCIES = ["JPY", "USD", "EUR", "KWD", "CLF"];

const decimal = (decimals: number, max: number) =>
  fc.nat({ max: max * 10 ** decimals }).map((units) => (units / 10 ** decimals).toFixed(decimals));

const tariffs = fc.constantFrom(...CURRENCIES).chain((currency) => {
  const fee = decimal(minorDigitsOf(currency)!, 50);
  return fc.record({
    currency: fc.constant(currency),
    base_fee: fee,
    rate_per_km: decimal(6, 20),
    tiers: fc
      .record({ flat_fee: fee, rate_per_kg: decimal(6, 20) })
      .map((tier) => [{ min_kg: 0, max_kg: 1_000, ...tier }]),
  });
});

const points = fc.record({
  lat: fc.double({ min: -90, max: 90, noNaN: true }),
  lng: fc.double({ min: -180, max: 180, noNaN: true }),
});

test("the lines add up to the total exactly, and each is its quantity times its rate, in every currency", () => {
  fc.assert(
    fc.property(
      tariffs,
      fc.record({
        pickup: points,
        dropoff: points,
        weightKg: fc.double({ min: 0.01, max: 1_000, noNaN: true }),
      }),
      (changes, route) => {
        const { fees } = createPricing(parseTariff(worldTariff(changes)).tariff!);
        const priced = priceByFees(fees, route)!;
        const lines = breakDown(fees, route.weightKg, priced, [])!;
        const sum = lines.reduce((minor, { amountMinor }) => minor + amountMinor, 0);
        expect(sum).toBe(priced.totalMinor);
        for (const { kind, quantity, rate, amountMinor } of lines) {
          const exact = kind === "distance" ? priced.distanceKm : quantity;
          const millionths = Math.round(rate * 1e6);
          expect(amountMinor).toBe(multiplyToMinor(exact, millionths, fees.minorDigits));
        }
      },
    ),
    { numRuns: 500 },
  );
});

test("a quote with given zones equals a quote without them", () => {
  const zones = zonesOf(square(-40, -40, 20, 40), square(0, -40, 60, 40));
  const pricing = createPricing(parseTariff(worldTariff({ rate_per_km: "1", zones })).tariff!);
  const zoneIndexOf = ({ lat, lng }: typeof WEST) => {
    if (Math.abs(lat) > 40 || lng < -40 || lng > 60) return undefined;
    return lng <= 20 ? 0 : 1;
  };
  fc.assert(
    fc.property(points, points, fc.double({ min: 0.01, max: 2_000, noNaN: true }), (pickup, dropoff, weightKg) => {
      const route = { pickup, dropoff, weightKg };
      expect(quoteWithZones(pricing, route)).toEqual({
        quote: quote(pricing, route),
        zones: { pickup: zoneIndexOf(pickup), dropoff: zoneIndexOf(dropoff) },
      });
      const result = quote(pricing, route);
      if (result.covered) {
        expect(priceByFees(pricing.fees, route)).toEqual(result satisfies CoveredQuote);
      }
    }),
    { numRuns: 500 },
  );
});
