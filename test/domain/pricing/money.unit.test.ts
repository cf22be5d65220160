import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  fitsDecimals,
  minorDigitsOf,
  multiplyHalfUp,
  multiplyToMinor,
  parseDecimal,
  toMajor,
  toUnits,
} from "../../../src/domain/pricing/money.ts";

describe("minorDigitsOf", () => {
  test.each([
    ["JPY", 0],
    ["UGX", 0],
    ["UYI", 0],
    ["USD", 2],
    ["EUR", 2],
    ["HUF", 2],
    ["MGA", 2],
    ["XCG", 2],
    ["ZWG", 2],
    ["KWD", 3],
    ["IQD", 3],
    ["CLF", 4],
    ["UYW", 4],
  ])("%s has %i decimals, as in ISO 4217 list one", (code, digits) => {
    expect(minorDigitsOf(code)).toBe(digits);
  });

  test.each([
    "XAU",
    "XDR",
    "XTS",
    "XXX",
    "ANG",
    "BGN",
    "HRK",
    "ZWL",
    "usd",
    "US",
    "",
    "constructor",
  ])("%j is no active currency with a minor unit", (code) => {
    expect(minorDigitsOf(code)).toBeUndefined();
  });

  test("knows 165 codes: 17 without decimals, 139 with two, 7 with three, 2 with four", () => {
    const letters = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];
    const counts: Record<number, number> = {};
    for (const a of letters)
      for (const b of letters)
        for (const c of letters) {
          const digits = minorDigitsOf(a + b + c);
          if (digits !== undefined) counts[digits] = (counts[digits] ?? 0) + 1;
        }
    expect(counts).toEqual({ 0: 17, 2: 139, 3: 7, 4: 2 });
  });
});

describe("parseDecimal", () => {
  test.each([
    ["5.00", { whole: "5", fraction: "00" }],
    ["0", { whole: "0", fraction: "" }],
    ["1000000.5", { whole: "1000000", fraction: "5" }],
    ["007.1", { whole: "007", fraction: "1" }],
  ])("reads %j", (text, expected) => {
    expect(parseDecimal(text)).toEqual(expected);
  });

  test.each([
    "",
    " ",
    "5.",
    ".5",
    "-5",
    "+5",
    "1e3",
    "0x10",
    "1,5",
    "1 000",
    " 5",
    "5 ",
    "5\n",
    "5.0.0",
    "NaN",
    "Infinity",
    "٥",
    "9".repeat(41),
    `0.${"1".repeat(41)}`,
  ])("refuses %j", (text) => {
    expect(parseDecimal(text)).toBeUndefined();
  });
});

describe("toUnits and fitsDecimals", () => {
  test.each([
    ["5.00", 2, true, 500],
    ["5", 2, true, 500],
    ["0.1", 2, true, 10],
    ["0.29", 2, true, 29],
    ["1.005", 3, true, 1005],
    ["1000000.0001", 4, true, 10_000_000_001],
    ["12", 0, true, 12],
    ["0.00125", 6, true, 1250],
    ["1000000.000001", 6, true, 1_000_000_000_001],
  ])("%s with %i decimals fits", (text, decimals, fits, units) => {
    const decimal = parseDecimal(text)!;
    expect([fitsDecimals(decimal, decimals), toUnits(decimal, decimals)]).toEqual([fits, units]);
  });

  test.each([
    ["5.001", 2],
    ["5.000", 2],
    ["1.0", 0],
    ["0.0001", 3],
    ["0.0000000", 6],
  ])("%s has more than %i decimals", (text, decimals) => {
    expect(fitsDecimals(parseDecimal(text)!, decimals)).toBe(false);
  });
});

describe("toMajor", () => {
  test.each([
    [1234, "USD", 12.34],
    [1234, "JPY", 1234],
    [1234, "KWD", 1.234],
    [1234, "CLF", 0.1234],
    [0, "USD", 0],
  ])("returns the amount of %i minor units of %s", (minor, currency, major) => {
    expect(toMajor(minor, currency)).toBe(major);
  });

  test("is the double that the exact decimal text reads as", () => {
    fc.assert(
      fc.property(
        fc.maxSafeNat(),
        fc.constantFrom("JPY", "USD", "KWD", "CLF"),
        (minor, currency) => {
          const digits = minorDigitsOf(currency)!;
          const text = String(minor).padStart(digits + 1, "0");
          const at = text.length - digits;
          expect(toMajor(minor, currency)).toBe(Number(`${text.slice(0, at)}.${text.slice(at)}`));
        },
      ),
      { numRuns: 5000 },
    );
  });

  test("throws for a currency it does not know", () => {
    expect(() => toMajor(1, "XXX")).toThrow(new RangeError("unknown currency XXX"));
  });
});

/** Reads a printed number as numerator / denominator by moving the point digit by digit. */
function rational(value: number): [bigint, bigint] {
  const [mantissa = "", exponent = "0"] = String(value).split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  let numerator = BigInt(whole + fraction);
  let denominator = 1n;
  for (let i = fraction.length; i > Number(exponent); i--) denominator *= 10n;
  for (let i = fraction.length; i < Number(exponent); i++) numerator *= 10n;
  return [numerator, denominator];
}

/** Twice the result plus one half, floored: round half up, in rationals. */
function oracle(quantity: number, factor: number, decimals: number): bigint {
  const [numerator, whole] = rational(quantity);
  const denominator = whole * 10n ** BigInt(decimals);
  return (2n * numerator * BigInt(factor) + denominator) / (2n * denominator);
}

/** The double that many steps away from a positive one. */
function besides(value: number, steps: number): number {
  const bits = new BigInt64Array(1);
  const double = new Float64Array(bits.buffer);
  double[0] = value;
  bits[0] = bits[0]! + BigInt(steps);
  return double[0];
}

const quantities = fc.oneof(
  fc.double({ min: 0, max: 100_000, noNaN: true }),
  fc.nat({ max: 10_000_000 }).map((n) => n / 1000),
  fc.nat({ max: 10_000_000 }).map((n) => n / 200),
);

describe("multiplyHalfUp", () => {
  test.each([
    ["takes the weight as written, not as its double", 1.005, 100, 0, 101],
    ["takes a product of 0.5 up", 0.5, 1, 0, 1],
    ["takes just below 0.5 down", 0.49999999999999994, 1, 0, 0],
    ["does not multiply in binary, where 1.1 × 1.1 exceeds 1.21", 1.1, 110, 0, 121],
    ["rounds 8.345 × 100 up, which binary makes 834.4999", 8.345, 100, 0, 835],
    ["rounds a tie that only the division makes", 2.5, 1_000, 3, 3],
    ["does not divide in binary, where 0.145 × 100 is below 14.5", 0.145, 100_000_000, 6, 15],
    ["reads small exponents", 1e-7, 5_000_000, 0, 1],
    ["reads the smallest double", 5e-324, 10_000_000_000, 6, 0],
    ["reads large exponents", 1e21, 0, 0, 0],
    ["takes a result of a product above 2^53", 1e21, 1, 6, 1e15],
    ["keeps every digit", 20015.114442035923, 10_000_000_000, 0, 200_151_144_420_359],
    ["nothing costs nothing", 0, 120, 6, 0],
    ["a free rate costs nothing", 12.5, 0, 6, 0],
  ])("%s", (_, quantity, factor, decimals, expected) => {
    expect(multiplyHalfUp(quantity, factor, decimals)).toBe(expected);
  });

  test("agrees with rational arithmetic for any quantity, factor and decimals", () => {
    const factors = fc.nat({ max: 10_000_000_000 });
    fc.assert(
      fc.property(quantities, factors, fc.nat({ max: 6 }), (quantity, factor, decimals) => {
        const product = multiplyHalfUp(quantity, factor, decimals);
        expect(BigInt(product)).toBe(oracle(quantity, factor, decimals));
      }),
      { numRuns: 10_000 },
    );
  });

  test.each([
    [-1, 100, 0],
    [NaN, 100, 0],
    [Infinity, 100, 0],
    [1, -1, 0],
    [1, 0.5, 0],
    [1, NaN, 0],
    [1e21, 1, 0],
    [1e22, 1, 6],
    [Number.MAX_VALUE, Number.MAX_SAFE_INTEGER, 6],
    [2, Number.MAX_SAFE_INTEGER, 0],
    [1, 1, -1],
    [1, 1, 7],
    [1, 1, 0.5],
  ])("refuses %d × %d with %d decimals", (quantity, factor, decimals) => {
    expect(() => multiplyHalfUp(quantity, factor, decimals)).toThrow(RangeError);
  });
});

describe("multiplyToMinor", () => {
  const MOST_MILLIONTHS = 1_000_000_000_000;
  const rates = fc.oneof(
    fc.integer({ min: 0, max: MOST_MILLIONTHS }),
    fc.integer({ min: 0, max: 100_000_000 }),
  );
  const minorDigits = fc.constantFrom(0, 2, 3, 4);

  test.each([
    ["33.3 JPY for 1.5 km", 1.5, 33_300_000, 0, 50],
    ["33.3 JPY for 15 km, a tie", 15, 33_300_000, 0, 500],
    ["0.00125 USD for 4 kg, a tie", 4, 1250, 2, 1],
    ["0.00125 USD for just below 4 kg", 3.9999999999999996, 1250, 2, 0],
    ["0.0005 KWD for 1 kg, a tie", 1, 500, 3, 1],
    ["0.000001 CLF for 49.9 kg", 49.9, 1, 4, 0],
    ["0.000001 CLF for 50 kg, a tie", 50, 1, 4, 1],
    [
      "the highest rate for the longest way",
      20015.114442035923,
      MOST_MILLIONTHS,
      4,
      200151144420359,
    ],
    [
      "the highest rate for the greatest weight",
      100_000,
      MOST_MILLIONTHS,
      4,
      1_000_000_000_000_000,
    ],
  ])("%s", (_, quantity, rateMillionths, digits, expected) => {
    expect(multiplyToMinor(quantity, rateMillionths, digits)).toBe(expected);
  });

  test("agrees with rational arithmetic for any quantity, rate and currency", () => {
    fc.assert(
      fc.property(quantities, rates, minorDigits, (quantity, rate, digits) => {
        const costMinor = multiplyToMinor(quantity, rate, digits);
        expect(BigInt(costMinor)).toBe(oracle(quantity, rate, 6 - digits));
      }),
      { numRuns: 5_000 },
    );
  });

  test("agrees with rational arithmetic on and beside every tie", () => {
    const steps = fc.integer({ min: -40, max: 40 });
    const wholes = fc.nat({ max: 200_000_000 });
    fc.assert(
      fc.property(wholes, rates, minorDigits, steps, (whole, rate, digits, step) => {
        const tie = ((whole + 0.5) * 10 ** (6 - digits)) / Math.max(1, rate);
        const quantity = besides(tie, step);
        const costMinor = multiplyToMinor(quantity, rate, digits);
        expect(BigInt(costMinor)).toBe(oracle(quantity, rate, 6 - digits));
      }),
      { numRuns: 5_000 },
    );
  });

  test("takes an exact tie in decimals up", () => {
    // whole.5 minor units as a power of ten times a weight that has three decimals at most.
    const powers = fc.integer({ min: 0, max: 3 });
    const wholes = fc.nat({ max: 1_000_000 });
    fc.assert(
      fc.property(wholes, powers, minorDigits, (whole, power, digits) => {
        const quantity = Number(`${10 * whole + 5}e-${power}`);
        const rateMillionths = 10 ** (power + 5 - digits);
        expect(multiplyToMinor(quantity, rateMillionths, digits)).toBe(whole + 1);
      }),
      { numRuns: 5000 },
    );
  });

  test("costs at a rate that fits the minor unit what it costs in whole minor units", () => {
    const ratesMinor = fc.nat({ max: 100_000_000 });
    fc.assert(
      fc.property(quantities, ratesMinor, minorDigits, (quantity, rateMinor, digits) => {
        const rateMillionths = rateMinor * 10 ** (6 - digits);
        const costMinor = multiplyToMinor(quantity, rateMillionths, digits);
        expect(BigInt(costMinor)).toBe(oracle(quantity, rateMinor, 0));
      }),
      { numRuns: 10_000 },
    );
  });
});
