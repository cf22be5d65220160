import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  fitsDecimals,
  minorDigitsOf,
  multiplyHalfUp,
  multiplyToMinor,
  parseDecimal,
  roundHalfUp,
  toMajor,
  toUnits,
} from "../../../src/domain/pricing/money.ts";

describe("minorDigitsOf", () => {
  test.each([
    [0, "JPY UGX UYI"],
    [2, "USD EUR HUF MGA XCG ZWG"],
    [3, "KWD IQD"],
    [4, "CLF UYW"],
    [undefined, "XAU XDR XTS XXX ANG BGN HRK ZWL usd US constructor"],
  ])("returns %s decimals for %s, as in ISO 4217 list one", (digits, codes) => {
    expect(codes.split(" ").map(minorDigitsOf)).toEqual(codes.split(" ").map(() => digits));
  });

  test("has 165 codes: 17 without decimals, 139 with two, 7 with three, 2 with four", () => {
    const letters = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];
    const pairs = letters.flatMap((a) => letters.map((b) => a + b));
    const counts: Record<number, number> = {};
    for (const code of pairs.flatMap((pair) => letters.map((c) => pair + c))) {
      const digits = minorDigitsOf(code);
      if (digits !== undefined) counts[digits] = (counts[digits] ?? 0) + 1;
    }
    expect(counts).toEqual({ 0: 17, 2: 139, 3: 7, 4: 2 });
  });
});

const MALFORMED = " |5.|.5|-5|+5|1e3|0x10|1,5|1 000| 5|5 |5\n|5.0.0|NaN|Infinity|٥".split("|");

describe("a decimal", () => {
  test.each([...MALFORMED, "", "9".repeat(41), `0.${"1".repeat(41)}`])("is not %j", (text) => {
    expect(parseDecimal(text)).toBeUndefined();
  });

  test.each([
    ["5.00", "5", "00", 2, 500],
    ["5", "5", "", 2, 500],
    ["007.1", "007", "1", 2, 710],
    ["0.29", "0", "29", 2, 29],
    ["1000000.0001", "1000000", "0001", 4, 10_000_000_001],
    ["12", "12", "", 0, 12],
    ["0.00125", "0", "00125", 6, 1250],
    ["1000000.000001", "1000000", "000001", 6, 1_000_000_000_001],
  ])("%s is %s and %s, and with %i decimals %i units", (text, whole, fraction, decimals, units) => {
    const decimal = parseDecimal(text)!;
    expect(decimal).toEqual({ whole, fraction });
    expect([fitsDecimals(decimal, decimals), toUnits(decimal, decimals)]).toEqual([true, units]);
  });

  test.each([
    ["5.001", 2],
    ["5.000", 2],
    ["1.0", 0],
    ["0.0000000", 6],
  ])("%s has more than %i decimals", (text, decimals) => {
    expect(fitsDecimals(parseDecimal(text)!, decimals)).toBe(false);
  });
});

describe("toMajor", () => {
  test("returns the double nearest to the exact decimal", () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.constantFrom("JPY", "USD", "KWD", "CLF"), (minor, currency) => {
        const digits = minorDigitsOf(currency)!;
        const text = String(minor).padStart(digits + 1, "0");
        const at = text.length - digits;
        expect(toMajor(minor, currency)).toBe(Number(`${text.slice(0, at)}.${text.slice(at)}`));
      }),
      { numRuns: 5000 },
    );
  });

  test("throws for an unknown currency", () => {
    expect(() => toMajor(1, "XXX")).toThrow(new RangeError("unknown currency XXX"));
  });
});

/** Parses a printed number into numerator and denominator by moving the decimal point digit by digit. */
function rational(value: number): [bigint, bigint] {
  const [mantissa = "", exponent = "0"] = String(value).split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  let numerator = BigInt(whole + fraction);
  let denominator = 1n;
  for (let i = fraction.length; i > Number(exponent); i--) denominator *= 10n;
  for (let i = fraction.length; i < Number(exponent); i++) numerator *= 10n;
  return [numerator, denominator];
}

/** Multiplies in exact rationals and rounds half up. */
function oracle(quantity: number, factor: number, decimals: number): bigint {
  const [numerator, whole] = rational(quantity);
  const denominator = whole * 10n ** BigInt(decimals);
  return (2n * numerator * BigInt(factor) + denominator) / (2n * denominator);
}

/** Returns the double that is this many steps away from a positive double. */
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

const MOST_MILLIONTHS = 1_000_000_000_000;
const rates = fc.oneof(fc.integer({ min: 0, max: MOST_MILLIONTHS }), fc.integer({ min: 0, max: 100_000_000 }));
const minorDigits = fc.constantFrom(0, 2, 3, 4);

describe("a product", () => {
  test.each([
    ["uses the weight as written, not as its double", 1.005, 100, 0, 101],
    ["rounds a product of 0.5 up", 0.5, 1, 0, 1],
    ["rounds just below 0.5 down", 0.49999999999999994, 1, 0, 0],
    ["does not multiply in binary, where 1.1 × 1.1 exceeds 1.21", 1.1, 110, 0, 121],
    ["rounds 8.345 × 100 up, which binary makes 834.4999", 8.345, 100, 0, 835],
    ["rounds a tie that results from the division", 2.5, 1_000, 3, 3],
    ["does not divide in binary, where 0.145 × 100 is below 14.5", 0.145, 100_000_000, 6, 15],
    ["reads small exponents", 1e-7, 5_000_000, 0, 1],
    ["reads the smallest double", 5e-324, 10_000_000_000, 6, 0],
    ["reads large exponents", 1e21, 0, 0, 0],
    ["handles a product above 2^53", 1e21, 1, 6, 1e15],
    ["keeps every digit", 20015.114442035923, 10_000_000_000, 0, 200_151_144_420_359],
    ["is exact for the greatest weight at the highest rate", 100_000, MOST_MILLIONTHS, 2, 1e15],
    ["is zero for a quantity of zero", 0, 120, 6, 0],
    ["is zero at a rate of zero", 12.5, 0, 6, 0],
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
  ])("of %d × %d with %d decimals throws", (quantity, factor, decimals) => {
    expect(() => multiplyHalfUp(quantity, factor, decimals)).toThrow(RangeError);
  });
});

describe("the amount for a quantity at a rate in millionths is", () => {
  test.each([
    ["33.3 JPY for 1.5 km", 1.5, 33_300_000, 0, 50],
    ["0.00125 USD for 4 kg, a tie", 4, 1250, 2, 1],
    ["0.0005 KWD for 1 kg, a tie", 1, 500, 3, 1],
    ["0.000001 CLF for 49.9 kg", 49.9, 1, 4, 0],
  ])("%s", (_, quantity, rateMillionths, digits, expected) => {
    expect(multiplyToMinor(quantity, rateMillionths, digits)).toBe(expected);
  });

  test("agrees with rational arithmetic on and near every tie", () => {
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

  test("rounds an exact decimal tie up", () => {
    // Products that end in exactly half a minor unit: a power of ten times a weight with at most three decimals.
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
});

describe("a quantity rounded half up", () => {
  test.each([
    ["drops the error of a binary sum", 0.1 + 0.2, 6, 0.3],
    ["drops the error of a binary product", 3 * 16.8, 6, 50.4],
    ["rounds a tie up", 2.5000005, 6, 2.500001],
    ["rounds below a tie down", 2.50000049, 6, 2.5],
    ["keeps a value without further decimals", 70_000.123456, 6, 70_000.123456],
    ["keeps a value too large for decimals", 1e300, 6, 1e300],
    ["keeps zero", 0, 6, 0],
    ["keeps a negative value", -0.1234567, 6, -0.1234567],
    ["keeps infinity", Infinity, 6, Infinity],
  ])("%s", (_, quantity, decimals, expected) => {
    expect(roundHalfUp(quantity, decimals)).toBe(expected);
  });

  test("keeps NaN", () => {
    expect(roundHalfUp(NaN, 6)).toBeNaN();
  });
});
