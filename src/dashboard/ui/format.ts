import { timestampDate, type Timestamp } from "@bufbuild/protobuf/wkt";
import { zoneSuffix } from "./local-time.ts";

export type Instant = Timestamp | Date;

export function dateOf(instant: Instant): Date {
  return instant instanceof Date ? instant : timestampDate(instant);
}

/** The most decimals that ISO 4217 gives a currency. */
const MOST_DECIMALS = 4;

/**
 * An amount in major units, in the reader's locale: `$12.69`. Never rounded to what is usual: browsers
 * leave decimals out that a currency has by ISO 4217, such as the Iraqi dinar's three.
 */
export function moneyText(amount: number, currency: string): string {
  const maximumFractionDigits = MOST_DECIMALS;
  return new Intl.NumberFormat(undefined, {
    style: "currency",
    currency,
    maximumFractionDigits,
  }).format(amount);
}

/** What amounts in major units come to, for each currency. */
export function sumText(
  amounts: readonly { readonly total: number; readonly currency: string }[],
): string {
  const sums = [...Map.groupBy(amounts, ({ currency }) => currency)].map(([currency, own]) => {
    const sum = own.reduce((total, amount) => total + amount.total, 0);
    // Totals are exact to the minor unit; their sum as a double is, once rounded to the same.
    return moneyText(Number(sum.toFixed(4)), currency);
  });
  return new Intl.ListFormat("en").format(sums);
}

/** A number in the reader's locale, with at most this many decimals. */
export function numberText(value: number, maximumFractionDigits = 3): string {
  return new Intl.NumberFormat(undefined, { maximumFractionDigits }).format(value);
}

/** A number as short as it can be, in the reader's locale, such as `1.2K`; an amount with its currency where one is given. */
export function compactText(value: number, currency?: string): string {
  return new Intl.NumberFormat(undefined, {
    notation: "compact",
    ...(currency === undefined ? {} : { style: "currency", currency, minimumFractionDigits: 0 }),
    maximumFractionDigits: 2,
  }).format(value);
}

export function shareText(share: number): string {
  return new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 1 }).format(
    share,
  );
}

/**
 * A time to the minute, or to the second, in the reader's locale and a time zone, which it names unless it is the
 * reader's; in the reader's when none is given.
 */
export function timeText(
  date: Date,
  to: "minute" | "second" = "minute",
  timeZone?: string,
): string {
  const timeStyle = to === "second" ? "medium" : "short";
  const format = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle, timeZone });
  return format.format(date) + zoneSuffix(date, timeZone);
}

const UNITS = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
] as const;
/** Above this many seconds a date says more than a number of days. */
const RELATIVE_SECONDS = 7 * 86_400;

/** How long ago, or in how long: `5 minutes ago`; the date in a time zone when that is more than a week. */
export function relativeText(date: Date, now: Date, timeZone?: string): string {
  const seconds = (date.getTime() - now.getTime()) / 1_000;
  const size = Math.abs(seconds);
  if (size > RELATIVE_SECONDS) {
    return new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeZone }).format(date);
  }
  const format = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });
  const unit = UNITS.find(([, length]) => size >= length);
  if (unit === undefined) return format.format(0, "second");
  return format.format(Math.trunc(seconds / unit[1]), unit[0]);
}

export function durationText(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

/** The number of a record as an address or a field has it; undefined when it is none. */
export function recordIdOf(text: string): bigint | undefined {
  return /^\d{1,18}$/.test(text) ? BigInt(text) : undefined;
}

const DECIMAL_MARK = new Intl.NumberFormat()
  .formatToParts(0.5)
  .find(({ type }) => type === "decimal")?.value;

/**
 * With a point where a comma was typed; anything else stays for the service to judge. So does `1,500`,
 * except where numbers are written with a comma: elsewhere it means a thousand times as much.
 */
export function decimalOf(text: string): string {
  const trimmed = text.trim();
  return /,\d{3}$/.test(trimmed) && DECIMAL_MARK !== "," ? trimmed : withPoint(trimmed);
}

function withPoint(text: string): string {
  return text.replace(/^([^.,]*),([^.,]*)$/, "$1.$2");
}

/** The number that a text says, read as `decimalOf` does; NaN for no number, undefined for nothing. */
export function numberFrom(text: string): number | undefined {
  const decimal = decimalOf(text);
  return decimal === "" ? undefined : Number(decimal);
}

/** As `numberFrom`, for degrees, of which there are no thousands. */
export function degreesFrom(text: string): number | undefined {
  return numberFrom(withPoint(text));
}

const BYTE_UNITS = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"] as const;

export function bytesText(bytes: number): string {
  const step = bytes < 1_000 ? 0 : Math.floor(Math.log10(bytes) / 3);
  const unit = BYTE_UNITS[Math.min(step, BYTE_UNITS.length - 1)]!;
  return new Intl.NumberFormat(undefined, {
    style: "unit",
    unit,
    unitDisplay: unit === "byte" ? "long" : "short",
    maximumFractionDigits: 1,
  }).format(bytes / 1_000 ** BYTE_UNITS.indexOf(unit));
}

/** A picture as pages show it without asking for it again. */
export function dataUrl(mediaType: string, bytes: Uint8Array): string {
  const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return `data:${mediaType};base64,${btoa(text)}`;
}
