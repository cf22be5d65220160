import { timestampDate, type Timestamp } from "@bufbuild/protobuf/wkt";
import { localDate, zoneSuffix } from "./local-time.ts";
import { dateFormat, numberFormat, relativeFormat } from "./intl.ts";

export type Instant = Timestamp | Date;

export function dateOf(instant: Instant): Date {
  return instant instanceof Date ? instant : timestampDate(instant);
}

/** Maximum number of decimals of a currency in ISO 4217. */
const MAX_DECIMALS = 4;

/**
 * Formats an amount in major units for the browser's locale: `$12.69`. Always shows the decimals that ISO 4217
 * defines. Browsers show fewer for some currencies, such as the Iraqi dinar with three.
 */
export function moneyText(amount: number, currency: string, maximumFractionDigits = MAX_DECIMALS): string {
  return numberFormat(undefined, { style: "currency", currency, maximumFractionDigits }).format(amount);
}

/** Formats the sum of amounts in major units, with one sum per currency. */
export function sumText(amounts: readonly { readonly total: number; readonly currency: string }[]): string {
  const sums = [...Map.groupBy(amounts, ({ currency }) => currency)].map(([currency, own]) => {
    const sum = own.reduce((total, amount) => total + amount.total, 0);
    // Rounding removes float errors, because totals are exact to the minor unit.
    return moneyText(Number(sum.toFixed(4)), currency);
  });
  return new Intl.ListFormat("en").format(sums);
}

/** Formats a number for the browser's locale, with a maximum number of decimals. */
export function numberText(value: number, maximumFractionDigits = 3): string {
  return numberFormat(undefined, { maximumFractionDigits }).format(value);
}

/** Formats a number in compact notation, such as `1.2K`, with an optional currency. */
export function compactText(value: number, currency?: string): string {
  return numberFormat(undefined, {
    notation: "compact",
    ...(currency === undefined ? {} : { style: "currency", currency, minimumFractionDigits: 0 }),
    maximumFractionDigits: 2,
  }).format(value);
}

export function apiKeyText(label: string): string {
  return `API key ${label}`;
}

/** Formats a rate limit: `10/s, burst 20`. */
export function rateText(limit: { readonly rate: number; readonly burst: number } | undefined): string | undefined {
  return limit && `${numberText(limit.rate)}/s, burst ${numberText(limit.burst)}`;
}

export function shareText(share: number): string {
  return numberFormat(undefined, { style: "percent", maximumFractionDigits: 1 }).format(share);
}

/** Format of a day, with the year if it is not the current one. */
function dayFormat(date: Date): Intl.DateTimeFormatOptions {
  const isThisYear = date.getFullYear() === new Date().getFullYear();
  return { month: "short", day: "numeric", ...(!isThisYear && { year: "numeric" }) };
}

/** Formats a time to the minute or second. Adds the time zone if it differs from the browser's. */
export function timeText(date: Date, to: "minute" | "second" = "minute", timeZone?: string): string {
  const second = to === "second" ? "2-digit" : undefined;
  const clock = { hour: "numeric", minute: "2-digit", second, timeZone } as const;
  const format = dateFormat(undefined, { ...dayFormat(date), ...clock });
  return format.format(date) + zoneSuffix(date, timeZone);
}

const UNITS = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
] as const;
/** Maximum age for relative times, in seconds. A date is clearer beyond that. */
const RELATIVE_SECONDS = 7 * 86_400;

/** Returns a relative time, such as `5 min. ago`. Beyond a week, returns the date in the time zone. */
export function relativeText(date: Date, now: Date, timeZone?: string): string {
  const seconds = (date.getTime() - now.getTime()) / 1_000;
  const size = Math.abs(seconds);
  if (size > RELATIVE_SECONDS) {
    return dateFormat(undefined, { ...dayFormat(date), timeZone }).format(date);
  }
  const format = relativeFormat(undefined, { numeric: "auto", style: "short" });
  const [unit, length] = UNITS.find((it) => size >= it[1]) ?? (["second", Infinity] as const);
  if (unit !== "day") return format.format(Math.trunc(seconds / length), unit);
  // Days of the calendar, because "yesterday" is wrong for a time 47 hours ago.
  const [day, today] = [date, now].map((instant) => Date.parse(localDate(instant, timeZone)));
  return format.format((day! - today!) / (length * 1_000), unit);
}

/** Returns the time between two instants in its largest unit, such as `9 hr`, and at least one minute. */
export function spanText(from: Date, to: Date): string {
  const seconds = (to.getTime() - from.getTime()) / 1_000;
  const [unit, length] = UNITS.find((it) => seconds >= it[1]) ?? UNITS[2];
  const format = numberFormat(undefined, { style: "unit", unit, unitDisplay: "short" });
  return format.format(Math.max(Math.trunc(seconds / length), 1));
}

export function durationText(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

/** Returns the name of an enum's value as text, such as `Pick up`. */
export function enumText(names: Readonly<Record<number, string>>, value: number): string {
  const name = value === 0 ? "UNKNOWN" : (names[value] ?? "UNKNOWN");
  return `${name.charAt(0)}${name.slice(1).toLowerCase().replaceAll("_", " ")}`;
}

/** Parses a record number from a URL or field. Returns `undefined` if invalid. */
export function recordIdOf(text: string): bigint | undefined {
  return /^\d{1,18}$/.test(text) ? BigInt(text) : undefined;
}

const DECIMAL_MARK = numberFormat()
  .formatToParts(0.5)
  .find(({ type }) => type === "decimal")?.value;

/**
 * Replaces a decimal comma with a point. Other texts are left for the service to validate. `1,500`
 * is replaced only in locales with a decimal comma, because elsewhere it means 1500.
 */
export function decimalOf(text: string): string {
  const trimmed = text.trim();
  return /,\d{3}$/.test(trimmed) && DECIMAL_MARK !== "," ? trimmed : withPoint(trimmed);
}

function withPoint(text: string): string {
  return text.replace(/^([^.,]*),([^.,]*)$/, "$1.$2");
}

/** Parses a number in the formats of `decimalOf`. NaN if invalid, `undefined` if empty. */
export function numberFrom(text: string): number | undefined {
  const decimal = decimalOf(text);
  return decimal === "" ? undefined : Number(decimal);
}

/** Parses degrees like `numberFrom`, but a comma is always a decimal comma. */
export function degreesFrom(text: string): number | undefined {
  return numberFrom(withPoint(text));
}

const BYTE_UNITS = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"] as const;

export function bytesText(bytes: number): string {
  const step = bytes < 1_000 ? 0 : Math.floor(Math.log10(bytes) / 3);
  const unit = BYTE_UNITS[Math.min(step, BYTE_UNITS.length - 1)]!;
  return numberFormat(undefined, {
    style: "unit",
    unit,
    unitDisplay: unit === "byte" ? "long" : "short",
    maximumFractionDigits: 1,
  }).format(bytes / 1_000 ** BYTE_UNITS.indexOf(unit));
}

/** Returns an image as a data URL, which saves a request. */
export function dataUrl(mediaType: string, bytes: Uint8Array): string {
  const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return `data:${mediaType};base64,${btoa(text)}`;
}
