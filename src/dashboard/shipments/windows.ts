import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Shipment } from "../../../gen/shipments/v1/shipment_pb.js";
import type { ListPickupSlotsResponse } from "../../../gen/shipments/v1/shipment_service_pb.js";
import type { AcceptedWindow, PickupSlot } from "../../../gen/shipments/v1/window_pb.js";
import type { Problem } from "../api/problem.ts";
import { addDays, CLOCK_FORMAT, instantOf, localDate, WEEKDAY_FORMAT, zoneSuffix, zoneText } from "../ui/local-time.ts";
import { atEnds, type End } from "./route.ts";
import { dateFormat } from "../ui/intl.ts";

export interface Window {
  readonly start: Date;
  readonly end: Date;
}

/** Slots that the zone's schedule offers for a pickup or dropoff. `undefined` without a schedule. */
export type Offer = ListPickupSlotsResponse & {
  readonly timeZone: string;
  /** Whether more days can be loaded. */
  readonly hasMore: boolean;
};

/** The chosen time of a pickup or dropoff. A `time` without a window cannot be booked yet. */
export type WindowChoice =
  | { readonly kind: "open" }
  | { readonly kind: "booked" }
  | { readonly kind: "time"; readonly window: Window | undefined };

export function windowOf(window: Pick<PickupSlot | AcceptedWindow, "start" | "end">): Window {
  return { start: timestampDate(window.start!), end: timestampDate(window.end!) };
}

export function windowMessage(window: Window | undefined) {
  return window && { start: timestampFromDate(window.start), end: timestampFromDate(window.end) };
}

export function bookedWindows(shipment: Shipment) {
  return atEnds((end) => shipment[`${end}Window`] && windowOf(shipment[`${end}Window`]!));
}

export function isSameWindow(one: Window, other: Window): boolean {
  return Number(one.start) === Number(other.start) && Number(one.end) === Number(other.end);
}

/** Default length of a freely chosen window, in milliseconds. */
const FIRST_LENGTH_MS = 3_600_000;

export function firstWindow(slots: readonly PickupSlot[], isFree: boolean): Window | undefined {
  const slot = slots.find(({ available }) => available);
  if (slot === undefined) return undefined;
  const { start, end } = windowOf(slot);
  if (!isFree) return { start, end };
  return { start, end: new Date(Math.min(Number(end), Number(start) + FIRST_LENGTH_MS)) };
}

/** Groups an offer's slots by date in its time zone, such as `2026-12-01`. */
export function slotsByDate({ data }: Offer): ReadonlyMap<string, readonly PickupSlot[]> {
  return Map.groupBy(data, ({ localStart }) => localStart.slice(0, 10));
}

/** Format to the minute, with the day of the week. */
const TO_MINUTE = { ...WEEKDAY_FORMAT, ...CLOCK_FORMAT };

/** Formats a window: `Tue, Dec 1, 8:00 – 9:00 AM`. Adds the time zone if it differs from the browser's. */
export function windowText({ start, end }: Window, timeZone?: string): string {
  const format = dateFormat(undefined, { ...TO_MINUTE, timeZone });
  return format.formatRange(start, end) + zoneSuffix(start, timeZone);
}

/** Formats a window's hours, such as `8:00 – 9:00 AM`. Adds the dates if they differ. */
export function hoursText(window: Window, timeZone: string | undefined): string {
  const { start, end } = window;
  if (localDate(start, timeZone) !== localDate(end, timeZone)) return windowText(window, timeZone);
  return dateFormat(undefined, { ...CLOCK_FORMAT, timeZone }).formatRange(start, end);
}

/** Formats an instant: `Mon, Nov 30, 6:00 PM`. Adds the time zone if it differs from the browser's. */
export function instantText(instant: Date, timeZone: string): string {
  const format = dateFormat(undefined, { ...TO_MINUTE, timeZone });
  return format.format(instant) + zoneSuffix(instant, timeZone);
}

/** Formats a slot's date for the browser's locale: `Tue, Dec 1`. */
export function dateText(date: string): string {
  return dateFormat(undefined, { ...WEEKDAY_FORMAT, timeZone: "UTC" }).format(new Date(date));
}

/** Returns the window between local times on a date. An end before the start is on the next day. */
export function windowAt(
  date: string,
  { start, end }: { readonly start: string; readonly end: string },
  timeZone: string,
): Window | undefined {
  const endDate = end > start ? date : addDays(date, 1);
  const [from, to] = [instantOf(date, start, timeZone), instantOf(endDate, end, timeZone)];
  return from && to && { start: from, end: to };
}

const WINDOW_REASONS: readonly string[] = [
  "WINDOW_INVALID",
  "OUTSIDE_HOURS",
  "CUT_OFF_PASSED",
  "TOO_SOON",
  "TOO_FAR_AHEAD",
  "SLOT_FULL",
];

export function isOfWindows({ reason = "" }: Problem): boolean {
  return WINDOW_REASONS.includes(reason);
}

const INSTANT = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/;
const SPAN = new RegExp(`(${INSTANT.source}) to (${INSTANT.source})`, "g");
const ALONE = new RegExp(INSTANT, "g");

/** Rewords a refusal of windows. Times are in the zones' time zones, and API names are replaced. */
export function problemOfWindows(problem: Problem, timeZones: Readonly<Record<End, string | undefined>>): Problem {
  const fields = Object.entries(problem.fields).map(([name, texts]) => {
    const timeZone = name === "dropoff_window" ? timeZones.dropoff : timeZones.pickup;
    return [name, texts.map((text) => localizeTimes(text, timeZone ?? "UTC"))] as const;
  });
  const message = localizeTimes(problem.message, timeZones.pickup ?? timeZones.dropoff ?? "UTC");
  return { ...problem, message, fields: Object.fromEntries(fields) };
}

/** Formats a text's times in a time zone and replaces API names with the page's labels. */
function localizeTimes(text: string, timeZone: string): string {
  return text
    .replace(" that GET /v1/pickup_slots lists", "")
    .replace(SPAN, (_, start: string, end: string) =>
      windowText({ start: new Date(start), end: new Date(end) }, timeZone),
    )
    .replace(ALONE, (instant) => instantText(new Date(instant), timeZone))
    .replace(timeZone, zoneText)
    .replace(/pickup_window/g, "pickup time")
    .replace(/dropoff_window/g, "dropoff time")
    .replace(/^./, (first) => first.toUpperCase());
}

export function nextAvailable({ facts }: Problem, end: End): Window | undefined {
  const prefix = end === "pickup" ? "" : "dropoff_";
  const [start, stop] = [facts[`${prefix}next_available`], facts[`${prefix}next_available_end`]];
  return start && stop ? { start: new Date(start), end: new Date(stop) } : undefined;
}
