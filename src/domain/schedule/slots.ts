import {
  MINUTE_MS,
  slotOf,
  slotStartingAt,
  type Calendar,
  type Day,
  type Opening,
  type Slot,
  type Span,
} from "./calendar.ts";
import { cutOffOf, decideWindow, type WindowDecision } from "./decide-window.ts";
import { MIN_WINDOW_MINUTES } from "./schedule.ts";

export interface DecidedSlot {
  readonly slot: Slot;
  readonly decision: WindowDecision;
}

/**
 * Returns the slots that start on the given dates, in order, including unavailable ones. If the
 * schedule has no slots, returns the opening hours from the first minute that can be booked.
 *
 * @param fromDay number of the first date, in days since 1970-01-01
 */
export function listSlots(
  calendar: Calendar,
  { fromDay, days }: { readonly fromDay: number; readonly days: number },
  nowMs: number,
): DecidedSlot[] {
  const { startMs } = calendar.day(fromDay);
  const { endMs } = calendar.day(fromDay + days - 1);
  const listed: Slot[] = [];
  // Opening hours of the day before can continue into the first date.
  for (let number = fromDay - 1; number < fromDay + days; number++) {
    for (const slot of slotsOf(calendar, calendar.day(number), nowMs)) {
      if (slot.startMs < startMs || slot.startMs >= endMs) continue;
      listed.push(slot);
    }
  }
  return withoutRepeats(listed).map((slot) => ({
    slot,
    decision: decideWindow(calendar, slot, nowMs),
  }));
}

/**
 * Removes duplicate slots, which occur if the hours of an exception continue into those of the next date. Keeps the slot
 * of the later date, as `slotStartingAt` does.
 */
function withoutRepeats(slots: readonly Slot[]): Slot[] {
  return slots
    .toSorted((a, b) => a.startMs - b.startMs || a.endMs - b.endMs)
    .filter(({ startMs, endMs }, i, sorted) => {
      const after = sorted[i + 1];
      return after?.startMs !== startMs || after.endMs !== endMs;
    });
}

function slotsOf(calendar: Calendar, day: Day, nowMs: number): readonly Slot[] {
  const { slotMinutes, timeZone } = calendar.schedule;
  if (slotMinutes !== undefined) return day.slots;
  return day.openings.filter(hasRoom).map((opening) => {
    const startMs = earliestIn(calendar, opening, MIN_WINDOW_MS, nowMs);
    if (startMs === undefined) return slotOf(opening, timeZone);
    // Near the end of an opening, a window may fit only together with adjacent hours. The whole opening is then listed,
    // although it can no longer be booked.
    const rest = { ...opening, startMs };
    return slotOf(hasRoom(rest) ? rest : opening, timeZone);
  });
}

const MIN_WINDOW_MS = MIN_WINDOW_MINUTES * MINUTE_MS;

function hasRoom({ startMs, endMs }: Span): boolean {
  return endMs - startMs >= MIN_WINDOW_MS;
}

/**
 * Returns the next bookable window at or after the start of `window`. If there is none, returns the earliest bookable
 * window from now on, or `undefined` if there is none up to the horizon. The result is a slot if the schedule has slots.
 * Otherwise it is as long as `window`.
 *
 * @param isFree returns whether a slot has capacity left
 */
export function nextAvailable(
  calendar: Calendar,
  window: Span,
  nowMs: number,
  isFree: (slot: Slot) => boolean = () => true,
): Span | undefined {
  const from = (fromMs: number) => firstFrom(calendar, window, fromMs, { nowMs, isFree });
  return from(Math.max(nowMs, window.startMs)) ?? from(nowMs);
}

function firstFrom(
  calendar: Calendar,
  window: Span,
  fromMs: number,
  { nowMs, isFree }: { readonly nowMs: number; readonly isFree: (slot: Slot) => boolean },
): Span | undefined {
  const { horizonDays, slotMinutes } = calendar.schedule;
  const lastDay = calendar.dayOf(nowMs).number + horizonDays;
  const lengthMs = Math.max(MIN_WINDOW_MS, window.endMs - window.startMs);
  const findOn = (number: number): Span | undefined => {
    const { slots, openings } = calendar.day(number);
    if (slotMinutes !== undefined) {
      return slots.find(
        (slot) =>
          slot.startMs >= fromMs &&
          isAvailable(calendar, slot, nowMs) &&
          // The next date can have a slot at the same time with another capacity.
          isFree(slotStartingAt(calendar, slot.startMs)!),
      );
    }
    const startMs = openings
      .values()
      .map((opening) => earliestIn(calendar, opening, lengthMs, nowMs, fromMs))
      .find((start) => start !== undefined);
    return startMs === undefined ? undefined : { startMs, endMs: startMs + lengthMs };
  };
  // Opening hours of the day before can continue into this day's hours.
  for (let number = calendar.dayOf(fromMs).number - 1; number <= lastDay; number++) {
    const found = findOn(number);
    if (found === undefined) continue;
    const next = findOn(number + 1);
    const { startMs, endMs } = next !== undefined && next.startMs < found.startMs ? next : found;
    return { startMs, endMs };
  }
  return undefined;
}

function isAvailable(calendar: Calendar, window: Span, nowMs: number): boolean {
  return decideWindow(calendar, window, nowMs).violations.length === 0;
}

/**
 * Returns the first whole minute of opening hours at which a window of the given length can start,
 * or `undefined`. Tries the start of the hours and the end of each passed cut-off.
 */
function earliestIn(
  calendar: Calendar,
  opening: Opening,
  lengthMs: number,
  nowMs: number,
  fromMs = 0,
): number | undefined {
  const leadMs = calendar.schedule.leadTimeMinutes * MINUTE_MS;
  let startMs = Math.max(opening.startMs, nextMinute(Math.max(fromMs, nowMs + leadMs)));
  while (startMs < opening.endMs) {
    if (isAvailable(calendar, { startMs, endMs: startMs + lengthMs }, nowMs)) return startMs;
    const passed = endOfPassed(calendar.dayOf(startMs), startMs, nowMs);
    if (passed === undefined) return undefined;
    startMs = passed;
  }
  return undefined;
}

function nextMinute(instantMs: number): number {
  return Math.ceil(instantMs / MINUTE_MS) * MINUTE_MS;
}

/**
 * Returns the end of the time range for which a passed cut-off blocks windows that start at `startMs`. Returns
 * `undefined` if no passed cut-off applies.
 */
function endOfPassed(day: Day, startMs: number, nowMs: number): number | undefined {
  const cutOffAtMs = cutOffOf(day, startMs);
  if (cutOffAtMs === undefined || nowMs <= cutOffAtMs) return undefined;
  const ends = day.cutOffs
    .filter((cutOff) => cutOff.startMs <= startMs && startMs < cutOff.endMs && cutOff.atMs < nowMs)
    .map(({ endMs }) => endMs);
  return Math.max(...ends);
}
