import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  fitsMinorUnit,
  minorDigitsOf,
  multiplyToMinor,
  parseDecimal,
  toMajor,
  toMinor,
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

describe("toMinor and fitsMinorUnit", () => {
  test.each([
    ["5.00", 2, true, 500],
    ["5", 2, true, 500],
    ["0.1", 2, true, 10],
    ["0.29", 2, true, 29],
    ["1.005", 3, true, 1005],
    ["1000000.0001", 4, true, 10_000_000_001],
    ["12", 0, true, 12],
  ])("%s with %i decimals fits", (text, digits, fits, minor) => {
    const decimal = parseDecimal(text)!;
    expect([fitsMinorUnit(decimal, digits), toMinor(decimal, digits)]).toEqual([fits, minor]);
  });

  test.each([
    ["5.001", 2],
    ["5.000", 2],
    ["1.0", 0],
    ["0.0001", 3],
  ])("%s has more than %i decimals", (text, digits) => {
    expect(fitsMinorUnit(parseDecimal(text)!, digits)).toBe(false);
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

/** Twice the product plus one half, floored: round half up, in rationals. */
function oracle(quantity: number, rateMinor: number): bigint {
  const [numerator, denominator] = rational(quantity);
  return (2n * numerator * BigInt(rateMinor) + denominator) / (2n * denominator);
}

/** The double that many steps away from a positive one. */
function besides(value: number, steps: number): number {
  const bits = new BigInt64Array(1);
  const double = new Float64Array(bits.buffer);
  double[0] = value;
  bits[0] = bits[0]! + BigInt(steps);
  return double[0];
}

describe("multiplyToMinor", () => {
  test.each([
    ["takes the weight as written, not as its double", 1.005, 100, 101],
    ["takes a product of 0.5 up", 0.5, 1, 1],
    ["takes just below 0.5 down", 0.49999999999999994, 1, 0],
    ["does not multiply in binary, where 1.1 × 1.1 exceeds 1.21", 1.1, 110, 121],
    ["rounds 8.345 × 100 up, which binary makes 834.4999", 8.345, 100, 835],
    ["reads small exponents", 1e-7, 5_000_000, 1],
    ["reads the smallest double", 5e-324, 10_000_000_000, 0],
    ["reads large exponents", 1e21, 0, 0],
    ["keeps every digit of a distance", 20015.114442035923, 10_000_000_000, 200_151_144_420_359],
    ["nothing costs nothing", 0, 120, 0],
    ["a free rate costs nothing", 12.5, 0, 0],
  ])("%s", (_, quantity, rateMinor, expected) => {
    expect(multiplyToMinor(quantity, rateMinor)).toBe(expected);
  });

  test("agrees with rational arithmetic for any quantity and rate", () => {
    const quantity = fc.oneof(
      fc.double({ min: 0, max: 100_000, noNaN: true }),
      fc.nat({ max: 10_000_000 }).map((n) => n / 1000),
      fc.nat({ max: 10_000_000 }).map((n) => n / 200),
    );
    fc.assert(
      fc.property(quantity, fc.nat({ max: 10_000_000_000 }), (amount, rate) => {
        expect(BigInt(multiplyToMinor(amount, rate))).toBe(oracle(amount, rate));
      }),
      { numRuns: 10_000 },
    );
  });

  test("agrees with rational arithmetic on and beside every tie", () => {
    fc.assert(
      fc.property(
        fc.nat({ max: 200_000_000 }),
        fc.integer({ min: 1, max: 10_000_000_000 }),
        fc.integer({ min: -40, max: 40 }),
        (whole, rate, steps) => {
          const amount = besides((whole + 0.5) / rate, steps);
          expect(BigInt(multiplyToMinor(amount, rate))).toBe(oracle(amount, rate));
        },
      ),
      { numRuns: 20_000 },
    );
  });

  test.each([
    [-1, 100],
    [NaN, 100],
    [Infinity, 100],
    [1, -1],
    [1, 0.5],
    [1, NaN],
    [1e21, 1],
    [2, Number.MAX_SAFE_INTEGER],
  ])("refuses %d × %d", (quantity, rateMinor) => {
    expect(() => multiplyToMinor(quantity, rateMinor)).toThrow(RangeError);
  });
});
