import { dateFormat } from "./intl.ts";

/** Returns a local time in the format of inputs: `08:30`. */
export function localTime(instant: Date, timeZone: string | undefined): string {
  return localText(instant, timeZone).slice(11, 16);
}

/** Returns a local date in the format of inputs: `2026-12-01`. */
export function localDate(instant: Date, timeZone: string | undefined): string {
  return localText(instant, timeZone).slice(0, 10);
}

/** Returns a local date and time, such as `2026-12-01T08:30:00.000Z`, in which `Z` has no meaning. */
function localText(instant: Date, timeZone: string | undefined): string {
  return new Date(Number(instant) + offsetMs(instant, timeZone)).toISOString();
}

/** Returns the offset of a time zone from UTC, in milliseconds, without the seconds that offsets had before 1972. */
export function offsetMs(instant: Date, timeZone: string | undefined): number {
  const parts = dateFormat("en-US", { timeZone, timeZoneName: "longOffset" }).formatToParts(instant);
  // Such as "GMT-05:00", and "GMT" for UTC.
  const name = parts.find(({ type }) => type === "timeZoneName")!.value;
  return -Date.parse(`1970-01-01T00:00${name.slice(3, 9) || "Z"}`);
}

const DAY_MS = 86_400_000;

/**
 * Returns the instant of a local time according to RFC 5545, section 3.3.5. An ambiguous time means
 * its first occurrence. A nonexistent time uses the offset before the gap.
 *
 * @param date such as `2026-12-01`
 * @param time such as `08:30`
 * @returns `undefined` if the date or time is invalid
 */
export function instantOf(date: string, time: string, timeZone: string | undefined): Date | undefined {
  const localMs = Date.parse(`${date}T${time}Z`);
  if (Number.isNaN(localMs)) return undefined;
  const before = offsetMs(new Date(localMs - DAY_MS), timeZone);
  const after = offsetMs(new Date(localMs + DAY_MS), timeZone);
  const fits = (offset: number) => offsetMs(new Date(localMs - offset), timeZone) === offset;
  return new Date(localMs - (!fits(before) && fits(after) ? after : before));
}

export function addDays(date: string, days: number): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10);
}

/** Format of a day with its weekday, such as `Tue, Dec 1`. */
export const WEEKDAY_FORMAT = { weekday: "short", month: "short", day: "numeric" } as const;
export const CLOCK_FORMAT = { hour: "numeric", minute: "2-digit" } as const;

/** Returns the name of a time zone, such as `America/New York`. */
export function zoneText(timeZone: string): string {
  return timeZone.replaceAll("_", " ");
}

/** Returns a name for a time zone's local time, such as `New York time`. */
export function clockText(timeZone: string): string {
  if (!timeZone.includes("/")) return timeZone;
  return `${zoneText(timeZone).split("/").at(-1)} time`;
}

/** Returns a suffix such as ` New York time`. Empty if the browser's clock shows the same time. */
export function zoneSuffix(instant: Date, timeZone: string | undefined): string {
  if (timeZone === undefined || offsetMs(instant, timeZone) === offsetMs(instant, undefined)) {
    return "";
  }
  return ` ${clockText(timeZone)}`;
}
