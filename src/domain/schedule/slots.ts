import {
  MINUTE_MS,
  slotOf,
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
 * The slots that start on some dates, in their order, available or not. Where windows are free these are
 * the hours, from the first minute that can be booked.
 *
 * @param fromDay the number of the first date, in days since 1970-01-01
 */
export function listSlots(
  calendar: Calendar,
  { fromDay, days }: { readonly fromDay: number; readonly days: number },
  nowMs: number,
): DecidedSlot[] {
  const { startMs } = calendar.day(fromDay);
  const { endMs } = calendar.day(fromDay + days - 1);
  const listed: Slot[] = [];
  // What opened the day before can last into the first.
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

/** In order, each once: the hours of an exception can last into those of the next date. */
function withoutRepeats(slots: readonly Slot[]): Slot[] {
  return slots
    .toSorted((a, b) => a.startMs - b.startMs || a.endMs - b.endMs)
    .filter(({ startMs, endMs }, i, sorted) => {
      const before = sorted[i - 1];
      return before?.startMs !== startMs || before.endMs !== endMs;
    });
}

function slotsOf(calendar: Calendar, day: Day, nowMs: number): readonly Slot[] {
  const { slotMinutes, timeZone } = calendar.schedule;
  if (slotMinutes !== undefined) return day.slots;
  return day.openings.filter(hasRoom).map((opening) => {
    const startMs = earliestIn(calendar, opening, MIN_WINDOW_MS, nowMs);
    if (startMs === undefined) return slotOf(opening, timeZone);
    // A window that starts in the last minutes ends in hours that touch: the whole is listed, as too late.
    const rest = { ...opening, startMs };
    return slotOf(hasRoom(rest) ? rest : opening, timeZone);
  });
}

const MIN_WINDOW_MS = MIN_WINDOW_MINUTES * MINUTE_MS;

function hasRoom({ startMs, endMs }: Span): boolean {
  return endMs - startMs >= MIN_WINDOW_MS;
}

/**
 * The first window that can be booked and starts at or after another, as long as that, or the first slot;
 * when there is none, the first one at all. Undefined when nothing can be booked up to the horizon.
 */
export function nextAvailable(calendar: Calendar, window: Span, nowMs: number): Span | undefined {
  const later = firstFrom(calendar, window, Math.max(nowMs, window.startMs), nowMs);
  return later ?? firstFrom(calendar, window, nowMs, nowMs);
}

function firstFrom(
  calendar: Calendar,
  window: Span,
  fromMs: number,
  nowMs: number,
): Span | undefined {
  const { horizonDays, slotMinutes } = calendar.schedule;
  const lastDay = calendar.dayOf(nowMs).number + horizonDays;
  const lengthMs = Math.max(MIN_WINDOW_MS, window.endMs - window.startMs);
  const findOn = (number: number): Span | undefined => {
    const { slots, openings } = calendar.day(number);
    if (slotMinutes !== undefined) {
      return slots.find((slot) => slot.startMs >= fromMs && isAvailable(calendar, slot, nowMs));
    }
    const startMs = openings
      .values()
      .map((opening) => earliestIn(calendar, opening, lengthMs, nowMs, fromMs))
      .find((start) => start !== undefined);
    return startMs === undefined ? undefined : { startMs, endMs: startMs + lengthMs };
  };
  // What began the day before can last, even into the hours of the next.
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
  return decideWindow(calendar, window, nowMs).faults.length === 0;
}

/**
 * The first whole minute of an opening at which a window of some length can start; undefined when there is
 * none. Tries the start, and where each cut-off that has passed no longer counts.
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

/** Until when windows that start at an instant are under a cut-off that has passed. */
function endOfPassed(day: Day, startMs: number, nowMs: number): number | undefined {
  const cutOffAtMs = cutOffOf(day, startMs);
  if (cutOffAtMs === undefined || nowMs <= cutOffAtMs) return undefined;
  const ends = day.cutOffs
    .filter((cutOff) => cutOff.startMs <= startMs && startMs < cutOff.endMs && cutOff.atMs < nowMs)
    .map(({ endMs }) => endMs);
  return Math.max(...ends);
}
