import { LRUCache } from "lru-cache";
import type { Hours, Schedule, SlotCapacity } from "./schedule.ts";

/** A time span in milliseconds since the epoch. The end is exclusive. */
export interface Span {
  readonly startMs: number;
  readonly endMs: number;
}

/** Opening hours that begin on one date, as instants. */
export interface Opening extends Span {
  readonly feeMinor: number;
}

/** A slot, with its times formatted as RFC 3339, which is the most expensive part of listing it. */
export interface Slot extends Opening {
  /** Start time in UTC. */
  readonly start: string;
  readonly end: string;
  /** Start time in the schedule's time zone, with the offset. */
  readonly localStart: string;
  readonly localEnd: string;
  /** Capacity of the slot, in the unit of the schedule. null if unlimited but counted. `undefined` if not counted. */
  readonly capacity: number | null | undefined;
}

/** A date in the schedule's time zone. Has no openings if the time zone skips the date. */
export interface Day extends Span {
  /** Days since 1970-01-01. */
  readonly number: number;
  /** Opening hours that begin on the date, in order. */
  readonly openings: readonly Opening[];
  /** Slots within the opening hours. Empty if the schedule has no slots. */
  readonly slots: readonly Slot[];
  /** Slots by start time, in milliseconds since the epoch. */
  readonly slotAt: ReadonlyMap<number, Slot>;
  /** Booking deadlines (`atMs`). Each applies to windows that start within its span. */
  readonly cutOffs: readonly (Span & { readonly atMs: number })[];
}

/** The dates of a schedule, computed lazily. */
export interface Calendar {
  readonly schedule: Schedule;
  /** Returns a date by its number. Supports at least the years 1970 to 9999. */
  day(number: number): Day;
  /** Returns the date that contains an instant. */
  dayOf(instantMs: number): Day;
}

export const MINUTE_MS = 60_000;
export const DAY_MS = 86_400_000;

/** Maximum number of cached slots per tariff, at about 500 bytes each. Each date counts as an additional slot. */
const MAX_KEPT_SLOTS = 100_000;

/** Offset between the cache keys of two schedules. Larger than any date number, so that keys are unique. */
const DATES = 10_000_000;

/**
 * Creates the calendars of schedules, in order. Local times are converted according to RFC 5545, 3.3.5: a nonexistent
 * time uses the offset before the gap, and an ambiguous time is the first of the two. Recently used dates are cached,
 * because computing a date takes a millisecond.
 */
export function createCalendars(schedules: readonly Schedule[]): Calendar[] {
  const days = new LRUCache<number, Day>({
    maxSize: MAX_KEPT_SLOTS,
    sizeCalculation: ({ slots }) => slots.length + 1,
  });
  return schedules.map((schedule, index) => createCalendar(schedule, index, days));
}

function createCalendar(schedule: Schedule, index: number, days: LRUCache<number, Day>): Calendar {
  function day(number: number): Day {
    const key = index * DATES + number;
    const known = days.get(key);
    if (known !== undefined) return known;
    const made = makeDay(schedule, number);
    days.set(key, made);
    return made;
  }

  return {
    schedule,
    day,
    dayOf(instantMs) {
      // Local time differs from UTC by less than a day, so the date differs by at most one day.
      const number = Math.floor(instantMs / DAY_MS);
      const ofUtc = day(number);
      if (instantMs < ofUtc.startMs) return day(number - 1);
      return instantMs < ofUtc.endMs ? ofUtc : day(number + 1);
    },
  };
}

/** Returns the slot that starts at an instant, possibly in opening hours that began the day before. */
export function slotStartingAt(calendar: Calendar, startMs: number): Slot | undefined {
  const day = calendar.dayOf(startMs);
  return day.slotAt.get(startMs) ?? calendar.day(day.number - 1).slotAt.get(startMs);
}

/** Returns the number of a date such as `2026-12-25`, in days since 1970-01-01. */
export function dayNumberOf(date: string): number {
  return Date.parse(`${date}T00:00:00Z`) / DAY_MS;
}

function makeDay(schedule: Schedule, number: number): Day {
  const { timeZone, week, exceptions, slotMinutes, capacity } = schedule;
  const date = dateOf(number);
  const startMs = startOf(date, timeZone);
  const span = { number, startMs, endMs: startOf(date.add({ days: 1 }), timeZone) };
  if (span.endMs <= startMs) {
    return { ...span, openings: [], slots: [], slotAt: new Map(), cutOffs: [] };
  }
  const hours = exceptions[date.toString()] ?? week[date.dayOfWeek - 1]!;
  const openings = hours
    .map((each) => openingOf(date, each, timeZone))
    .filter((opening) => opening.startMs < opening.endMs);
  const slots =
    slotMinutes === undefined ? [] : slotsOf(openings, slotMinutes, timeZone, capacity && capacityOn(capacity, date));
  return {
    ...span,
    openings,
    slots,
    slotAt: new Map(slots.map((slot) => [slot.startMs, slot])),
    cutOffs: cutOffsOf(schedule, date),
  };
}

function capacityOn({ onDates, perSlot, attentionAbove }: SlotCapacity, date: Temporal.PlainDate) {
  return onDates[date.toString()] ?? perSlot ?? (attentionAbove === undefined ? undefined : null);
}

function dateOf(number: number): Temporal.PlainDate {
  return new Temporal.PlainDate(1970, 1, 1).add({ days: number });
}

function startOf(date: Temporal.PlainDate, timeZone: string): number {
  return date.toZonedDateTime(timeZone).epochMilliseconds;
}

function openingOf(date: Temporal.PlainDate, hours: Hours, timeZone: string): Opening {
  return {
    startMs: instantOf(date, hours.opensMinute, timeZone),
    endMs: instantOf(date, hours.closesMinute, timeZone),
    feeMinor: hours.feeMinor,
  };
}

/**
 * Converts a local time to an instant.
 *
 * @param minute minutes since the date's midnight, possibly on a later date
 */
function instantOf(date: Temporal.PlainDate, minute: number, timeZone: string): number {
  return date.toPlainDateTime().add({ minutes: minute }).toZonedDateTime(timeZone, { disambiguation: "compatible" })
    .epochMilliseconds;
}

/**
 * Divides opening hours into consecutive slots, regardless of clock changes. Drops a remainder that
 * is shorter than a slot.
 */
function slotsOf(
  openings: readonly Opening[],
  slotMinutes: number,
  timeZone: string,
  capacity: Slot["capacity"],
): Slot[] {
  const lengthMs = slotMinutes * MINUTE_MS;
  const localTextOf = createLocalClock(timeZone);
  return openings.flatMap(({ startMs, endMs, feeMinor }) =>
    Array.from({ length: Math.floor((endMs - startMs) / lengthMs) }, (_, i) => {
      const start = startMs + i * lengthMs;
      return withTexts({ startMs: start, endMs: start + lengthMs, feeMinor }, capacity, localTextOf);
    }),
  );
}

export function slotOf(opening: Opening, timeZone: string): Slot {
  return withTexts(opening, undefined, createLocalClock(timeZone));
}

function withTexts(opening: Opening, capacity: Slot["capacity"], localTextOf: (instantMs: number) => string): Slot {
  const { startMs, endMs } = opening;
  return {
    ...opening,
    start: new Date(startMs).toISOString(),
    end: new Date(endMs).toISOString(),
    localStart: localTextOf(startMs),
    localEnd: localTextOf(endMs),
    capacity,
  };
}

/**
 * Creates a formatter that returns instants as RFC 3339 in whole seconds with the offset. It looks up the offset only
 * once for the time until the next clock change.
 */
function createLocalClock(timeZone: string): (instantMs: number) => string {
  let known = { fromMs: 0, untilMs: 0, offsetMs: 0, offset: "" };
  return (instantMs) => {
    if (instantMs < known.fromMs || instantMs >= known.untilMs) {
      const local = Temporal.Instant.fromEpochMilliseconds(instantMs).toZonedDateTimeISO(timeZone);
      known = {
        fromMs: instantMs,
        untilMs: local.getTimeZoneTransition("next")?.epochMilliseconds ?? Infinity,
        offsetMs: local.offsetNanoseconds / 1e6,
        offset: local.toString({ timeZoneName: "never" }).slice(-"+00:00".length),
      };
    }
    const clock = new Date(instantMs + known.offsetMs).toISOString();
    return clock.slice(0, -".000Z".length) + known.offset;
  };
}

function cutOffsOf({ cutOffs, timeZone }: Schedule, date: Temporal.PlainDate): Day["cutOffs"] {
  return cutOffs
    .filter(({ days }) => days[date.dayOfWeek - 1])
    .map(({ fromMinute, untilMinute, daysBefore, atMinute }) => ({
      startMs: instantOf(date, fromMinute, timeZone),
      endMs: instantOf(date, untilMinute, timeZone),
      atMs: instantOf(date.subtract({ days: daysBefore }), atMinute, timeZone),
    }));
}
