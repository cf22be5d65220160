/**
 * Money is a whole number of minor units (cents, yen, fils) in a safe integer, always named `...Minor`. A rate is a
 * whole number of millionths of the major unit, always named `...Millionths`, because it can have more decimals than
 * the currency. Nothing in this module rounds in binary floating point.
 */

/**
 * Active codes of ISO 4217 list one, published on 2026-01-01, including funds codes, by the number of decimals of
 * their minor unit. Codes without a minor unit (XAU, XDR, XTS, XXX, ...) cannot be used for fees and are omitted.
 */
const CODES_BY_MINOR_DIGITS: Readonly<Record<number, string>> = {
  0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF",
  2: `AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD
      CDF CHE CHF CHW CNY COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS
      GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD
      LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB
      PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP
      SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XAD XCD XCG YER ZAR ZMW
      ZWG`,
  3: "BHD IQD JOD KWD LYD OMR TND",
  4: "CLF UYW",
};

const MINOR_DIGITS: ReadonlyMap<string, number> = new Map(
  Object.entries(CODES_BY_MINOR_DIGITS).flatMap(([digits, codes]) =>
    codes.split(/\s+/).map((code) => [code, Number(digits)] as const),
  ),
);

/** Returns the number of decimals of a currency's minor unit (0, 2, 3 or 4), or `undefined` for an unknown code. */
export function minorDigitsOf(currency: string): number | undefined {
  return MINOR_DIGITS.get(currency);
}

/** An exact decimal: the digits before and after the point, as written. */
export interface Decimal {
  readonly whole: string;
  readonly fraction: string;
}

/**
 * Parses a plain decimal such as `5.00` or `12`: digits, optionally followed by a point and more digits, at most 40
 * on either side. Signs, exponents and blanks are invalid. Returns `undefined` if invalid.
 */
export function parseDecimal(text: string): Decimal | undefined {
  const match = /^(\d{1,40})(?:\.(\d{1,40}))?$/.exec(text);
  return match ? { whole: match[1] as string, fraction: match[2] ?? "" } : undefined;
}

export function fitsDecimals(decimal: Decimal, decimals: number): boolean {
  return decimal.fraction.length <= decimals;
}

/**
 * Converts a decimal to an integer with the given number of decimals: with two decimals, 5.00 becomes 500. Exact up to
 * 2^53 − 1. Larger results are rounded but stay above any limit up to that value.
 */
export function toUnits(decimal: Decimal, decimals: number): number {
  return Number(decimal.whole + decimal.fraction.padEnd(decimals, "0"));
}

/**
 * Converts an amount to the currency's major unit, for display and the wire. The result is the double nearest to the
 * exact decimal, because both operands are exact and IEEE 754 division rounds correctly.
 *
 * @throws RangeError if the currency is unknown
 */
export function toMajor(minor: number, currency: string): number {
  return minor / 10 ** knownDigitsOf(currency);
}

/** Converts a sum of any size to the nearest double in the currency's major unit. */
export function sumToMajor(minor: bigint, currency: string): number {
  return Number(`${minor}e-${knownDigitsOf(currency)}`);
}

function knownDigitsOf(currency: string): number {
  const minorDigits = MINOR_DIGITS.get(currency);
  if (minorDigits === undefined) throw new RangeError(`unknown currency ${currency}`);
  return minorDigits;
}

/** Number of decimals of a rate in the major unit. Rates are stored in millionths. */
export const RATE_DECIMALS = 6;

/**
 * Returns the price of a quantity at a rate in millionths of the major unit, in minor units. See `multiplyHalfUp`.
 */
export function multiplyToMinor(quantity: number, rateMillionths: number, minorDigits: number): number {
  return multiplyHalfUp(quantity, rateMillionths, RATE_DECIMALS - minorDigits);
}

/**
 * Returns quantity × factor ÷ 10^decimals, rounded half up to a whole number without binary error. The quantity is
 * interpreted as its shortest decimal text: a weight of 1.005 is 1005/1000, not the nearest double below it.
 *
 * @param quantity finite, at least 0
 * @param factor a safe integer, at least 0
 * @param decimals 0 to 6
 * @throws RangeError if an argument is out of range or the result exceeds 2^53 − 1
 */
export function multiplyHalfUp(quantity: number, factor: number, decimals: number): number {
  if (!(quantity >= 0 && quantity < Infinity)) throw new RangeError(`bad quantity ${quantity}`);
  if (!(Number.isSafeInteger(factor) && factor >= 0)) throw new RangeError(`bad factor ${factor}`);
  const divisor = DIVISORS[decimals];
  if (divisor === undefined) throw new RangeError(`bad decimals ${decimals}`);
  const product = roundIfClear((quantity * factor) / divisor) ?? multiplyExactly(quantity, factor, decimals);
  if (!Number.isSafeInteger(product)) {
    const exact = `${quantity} × ${factor} ÷ ${divisor}`;
    throw new RangeError(`${exact} is above ${Number.MAX_SAFE_INTEGER}`);
  }
  return product;
}

/**
 * Rounds a quantity half up to a number of decimals without binary error: 0.1 + 0.2 to six decimals is 0.3. Returns
 * values unchanged if they are not positive and finite, or too large for that many decimals in a double.
 *
 * @param decimals 0 to 6
 */
export function roundHalfUp(quantity: number, decimals: number): number {
  const divisor = DIVISORS[decimals];
  if (divisor === undefined) throw new RangeError(`bad decimals ${decimals}`);
  if (!(quantity > 0 && quantity * divisor < Number.MAX_SAFE_INTEGER)) return quantity;
  return multiplyHalfUp(quantity, divisor, 0) / divisor;
}

const DIVISORS: readonly number[] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000];

/**
 * Rounds a computed double half up. Returns `undefined` if it is so close to a tie that the exact result could round
 * differently.
 *
 * The quantity differs from its shortest decimal by a relative error of at most 2^-53, because the decimal parses back
 * to the quantity. The multiplication and the division each add the same error. The total error is less than 2^-51 of
 * the result. (For subnormal doubles, the absolute error is below 2^-1020, and no tie is near.)
 */
function roundIfClear(product: number): number | undefined {
  const floor = Math.floor(product);
  const fromTie = product - floor - 0.5;
  if (product >= MAX_CLEAR || Math.abs(fromTie) <= product * 2 ** -51) return undefined;
  return fromTie < 0 ? floor : floor + 1;
}

/** Limit below which doubles are at most 1/64 apart, so that a tie can be distinguished from its neighbors. */
const MAX_CLEAR = 2 ** 47;

function multiplyExactly(quantity: number, factor: number, decimals: number): number {
  const { digits, exponent } = shortestDecimal(quantity);
  return Number(scaleHalfUp(digits * BigInt(factor), exponent - decimals));
}

/** Returns the shortest decimal that parses back to a number, as ECMAScript prints it: digits × 10^exponent. */
function shortestDecimal(value: number): { digits: bigint; exponent: number } {
  const text = String(value);
  const e = text.indexOf("e");
  const mantissa = e === -1 ? text : text.slice(0, e);
  const point = mantissa.indexOf(".");
  const exponent = e === -1 ? 0 : Number(text.slice(e + 1));
  if (point === -1) return { digits: BigInt(mantissa), exponent };
  return {
    digits: BigInt(mantissa.slice(0, point) + mantissa.slice(point + 1)),
    exponent: exponent - (mantissa.length - 1 - point),
  };
}

/** Returns value × 10^exponent, rounded half up. The exponent of a double is between −346 and 308. */
function scaleHalfUp(value: bigint, exponent: number): bigint {
  if (exponent >= 0) return value * 10n ** BigInt(exponent);
  const divisor = 10n ** BigInt(-exponent);
  return (value + divisor / 2n) / divisor;
}
