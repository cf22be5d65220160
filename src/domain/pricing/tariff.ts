import type { Zone } from "../coverage/coverage.ts";
import { createTariffFaults, isObject, quoted, type TariffFault, type TariffFaults } from "../faults.ts";
import { RATE_DECIMALS, fitsDecimals, minorDigitsOf, parseDecimal, toUnits, type Decimal } from "./money.ts";
import { validZones, parseZones } from "../coverage/parse-zones.ts";
import { parseSchedules } from "../schedule/parse-schedules.ts";
import type { Scheduling } from "../schedule/schedule.ts";

/** A weight tier for minKg < weight ≤ maxKg, in kilograms. */
export interface Tier {
  readonly minKg: number;
  readonly maxKg: number;
  readonly flatFeeMinor: number;
  /** Millionths of the currency's major unit per kilogram. */
  readonly ratePerKgMillionths: number;
}

/**
 * Pricing parameters of a tariff. Fees are in minor units of the currency. Rates are in millionths
 * of its major unit, because they can have more decimals.
 */
export interface Fees {
  /** ISO 4217 code. */
  readonly currency: string;
  /** Number of decimals of the currency's minor unit: 0, 2, 3 or 4. */
  readonly minorDigits: number;
  readonly baseFeeMinor: number;
  readonly ratePerKmMillionths: number;
  /** Weight tiers in ascending order, without overlap. Gaps are allowed, and the list can be empty. */
  readonly tiers: readonly Tier[];
  /** Schedules and window fees. `undefined` without schedules. */
  readonly scheduling: Scheduling | undefined;
}

export interface Tariff extends Fees {
  readonly zones: readonly Zone[];
}

export type ParsedTariff =
  | { readonly tariff: Tariff; readonly faults?: undefined }
  | { readonly tariff?: undefined; readonly faults: readonly TariffFault[] };

/** Maximum number of errors that are reported together. */
export const MAX_FAULTS = 100;

/** Maximum base fee, flat fee or rate, in the major unit. Keeps the sums in `quote` within safe integers. */
const MAX_AMOUNT = 1_000_000;

/** Maximum weight of a tier. Keeps the sums in `quote` within safe integers. */
const MAX_WEIGHT_KG = 100_000;

const MAX_TIERS = 1_000;

/**
 * Parses a tariff document. The keys `currency`, `base_fee`, `rate_per_km`, `tiers` and `zones` are required,
 * `schedules` and `default_schedule` are optional, and unknown keys are ignored. The zones share their positions with
 * the document, which must not change afterwards.
 *
 * A schema library would be too slow for five million positions and could not include the fix in each error.
 */
export function parseTariff(document: unknown): ParsedTariff {
  const faults = createTariffFaults(MAX_FAULTS);
  const tariff = parseDocument(document, faults);
  return tariff === undefined || faults.list.length > 0 ? { faults: faults.list } : { tariff };
}

/**
 * Parses a valid document without validating its zones again, which would take most of the time.
 *
 * @throws Error if the fees are invalid
 */
export function parseValidTariff(document: object): { fees: Fees; zones: Zone[] } {
  const { zones } = document as { readonly zones?: unknown };
  return { fees: parseValidFees(document), zones: validZones(zones) };
}

/**
 * Parses the fees of a valid document. The zones may be missing.
 *
 * @throws Error if the fees are invalid
 */
export function parseValidFees(document: object): Fees {
  const faults = createTariffFaults(1);
  const fees = parseFees(document as Readonly<Record<string, unknown>>, faults);
  const [fault] = faults.list;
  if (fault !== undefined) throw new Error(`the tariff is not valid: ${fault.path} ${fault.text}`);
  return fees;
}

function parseDocument(document: unknown, faults: TariffFaults): Tariff | undefined {
  if (!isObject(document)) {
    faults.add("document", `must be a JSON object; it is ${quoted(document)}`);
    return undefined;
  }
  return { ...parseFees(document, faults), zones: parseZones(document.zones, faults) };
}

function parseFees(document: Readonly<Record<string, unknown>>, faults: TariffFaults): Fees {
  const currency = parseCurrency(document.currency, faults);
  return {
    ...currency,
    baseFeeMinor: parseFee(document.base_fee, "base_fee", currency, faults),
    ratePerKmMillionths: parseRate(document.rate_per_km, "rate_per_km", faults),
    tiers: parseTiers(document.tiers, currency, faults),
    scheduling: parseSchedules(document, {
      faults,
      parseFee: (value, path) => parseFee(value, path, currency, faults),
    }),
  };
}

type Currency = Pick<Fees, "currency" | "minorDigits">;

/** Replaces an invalid currency, so that the fees are still validated and all errors are reported together. */
const UNKNOWN_CURRENCY: Currency = { currency: "most currencies", minorDigits: 2 };

/** Parses a currency code. If it is invalid, adds an error and returns a fallback, so that the fees are still validated. */
function parseCurrency(value: unknown, faults: TariffFaults): Currency {
  const code = typeof value === "string" ? value.trim().toUpperCase() : "";
  const minorDigits = minorDigitsOf(code);
  const parsed = minorDigits === undefined ? UNKNOWN_CURRENCY : { currency: code, minorDigits };
  if (parsed.currency === value) return parsed;
  faults.add("currency", `must be an active ISO 4217 code with a minor unit, such as "USD"; it is ${quoted(value)}`);
  return parsed;
}

/** Parses a fee into minor units. If it is invalid, adds an error and returns 0. */
function parseFee(value: unknown, path: string, currency: Currency, faults: TariffFaults): number {
  const { minorDigits } = currency;
  const decimal = parseAmount(value, path, faults);
  if (decimal === undefined) return 0;
  if (!fitsDecimals(decimal, minorDigits)) {
    const most = minorDigits === 0 ? "no" : `at most ${minorDigits}`;
    faults.add(
      path,
      `must have ${most} decimals in ${currency.currency}; it is ${quoted(value)}; ` +
        "round it; only rates can have more decimals",
    );
    return 0;
  }
  return toUnits(decimal, minorDigits);
}

/** Parses a rate into millionths of the major unit. If it is invalid, adds an error and returns 0. */
function parseRate(value: unknown, path: string, faults: TariffFaults): number {
  const decimal = parseAmount(value, path, faults);
  if (decimal === undefined) return 0;
  if (fitsDecimals(decimal, RATE_DECIMALS)) return toUnits(decimal, RATE_DECIMALS);
  faults.add(path, `must have at most ${RATE_DECIMALS} decimals; it is ${quoted(value)}; round it`);
  return 0;
}

/** Parses an amount in the major unit. If it is invalid, adds an error and returns `undefined`. */
function parseAmount(value: unknown, path: string, faults: TariffFaults): Decimal | undefined {
  const decimal = typeof value === "string" ? parseDecimal(value) : undefined;
  if (decimal === undefined) {
    faults.add(path, `must be a decimal string of 0 or more, such as "5.00"; it is ${quoted(value)}`);
    return undefined;
  }
  if (Number(value) > MAX_AMOUNT) {
    faults.add(path, `must be at most ${MAX_AMOUNT}; it is ${quoted(value)}`);
    return undefined;
  }
  return decimal;
}

function parseTiers(value: unknown, currency: Currency, faults: TariffFaults): Tier[] {
  if (!Array.isArray(value) || value.length > MAX_TIERS) {
    faults.add("tiers", `must be a list of at most ${MAX_TIERS} tiers; it ${sizeOf(value)}`);
    return [];
  }
  const tiers: Tier[] = [];
  for (const [i, tier] of value.entries()) {
    tiers.push(parseTier(tier, `tiers[${i}]`, { currency, before: tiers[i - 1] }, faults));
  }
  return tiers;
}

function sizeOf(value: unknown): string {
  return Array.isArray(value) ? `has ${value.length}` : `is ${quoted(value)}`;
}

function parseTier(
  value: unknown,
  path: string,
  { currency, before }: { readonly currency: Currency; readonly before: Tier | undefined },
  faults: TariffFaults,
): Tier {
  if (!isObject(value)) faults.add(path, `must be an object; it is ${quoted(value)}`);
  if (!isObject(value)) return { minKg: NaN, maxKg: NaN, flatFeeMinor: 0, ratePerKgMillionths: 0 };
  const minKg = parseWeight(value.min_kg, `${path}.min_kg`, faults);
  if (before !== undefined && minKg < before.maxKg) {
    faults.add(
      `${path}.min_kg`,
      `must be at least ${before.maxKg}, the end of the previous tier; it is ${minKg}; ` +
        "put the tiers in ascending order and without overlap",
    );
  }
  const maxKg = parseWeight(value.max_kg, `${path}.max_kg`, faults);
  if (maxKg <= minKg) {
    faults.add(`${path}.max_kg`, `must be above min_kg, which is ${minKg}; it is ${maxKg}`);
  }
  return {
    minKg,
    maxKg,
    flatFeeMinor: parseFee(value.flat_fee, `${path}.flat_fee`, currency, faults),
    ratePerKgMillionths: parseRate(value.rate_per_kg, `${path}.rate_per_kg`, faults),
  };
}

/**
 * Parses a weight in kilograms. If it is invalid, adds an error and returns NaN, which causes no
 * further errors in comparisons.
 */
function parseWeight(value: unknown, path: string, faults: TariffFaults): number {
  if (typeof value === "number" && value >= 0 && value <= MAX_WEIGHT_KG) return value;
  faults.add(path, `must be a number from 0 to ${MAX_WEIGHT_KG}; it is ${quoted(value)}`);
  return NaN;
}
