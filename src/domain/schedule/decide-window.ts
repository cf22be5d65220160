import type { RefusalReason } from "../refusal.ts";
import { MINUTE_MS, slotStartingAt, type Calendar, type Day, type Opening, type Slot, type Span } from "./calendar.ts";
import { MAX_WINDOW_MINUTES, MIN_WINDOW_MINUTES } from "./schedule.ts";

type WindowRefusalReason = Extract<
  RefusalReason,
  "WINDOW_INVALID" | "OUTSIDE_HOURS" | "CUT_OFF_PASSED" | "TOO_SOON" | "TOO_FAR_AHEAD" | "SLOT_FULL"
>;

interface WindowViolation {
  readonly reason: WindowRefusalReason;
  /** Phrase that follows the window's name, such as "must last at least 10 minutes". */
  readonly text: string;
}

export interface WindowDecision {
  /** Reasons why the window cannot be booked. Empty if it can. */
  readonly violations: readonly WindowViolation[];
  /** Booking deadline in milliseconds since the epoch. `undefined` without a cut-off. */
  readonly cutOffAtMs: number | undefined;
  /** 0 outside the opening hours. */
  readonly feeMinor: number;
  /** Capacity of the slot, as in `Slot`. */
  readonly capacity?: Slot["capacity"];
}

/** Decides whether a window can be booked now. Used for slots, quotes, bookings and updates. */
export function decideWindow(calendar: Calendar, window: Span, nowMs: number): WindowDecision {
  const shape = shapeViolation(window);
  // Calendars start in 1970.
  const fatal = shape ?? (window.startMs < 0 ? tooSoon(calendar) : undefined);
  if (fatal !== undefined) return { violations: [fatal], cutOffAtMs: undefined, feeMinor: 0 };
  const day = calendar.dayOf(window.startMs);
  const match = matchHours(calendar, window, day);
  const cutOffAtMs = cutOffOf(day, window.startMs);
  const violations = [match.violation, ...timeViolations(calendar, window, { day, cutOffAtMs, nowMs })];
  return {
    violations: violations.filter((violation) => violation !== undefined),
    cutOffAtMs,
    feeMinor: match.feeMinor,
    capacity: match.capacity,
  };
}

function shapeViolation({ startMs, endMs }: Span): WindowViolation | undefined {
  const minutes = (endMs - startMs) / MINUTE_MS;
  if (minutes <= 0) return { reason: "WINDOW_INVALID", text: "must end after it starts" };
  if (minutes < MIN_WINDOW_MINUTES) {
    return {
      reason: "WINDOW_INVALID",
      text: `must last at least ${MIN_WINDOW_MINUTES} minutes`,
    };
  }
  if (minutes <= MAX_WINDOW_MINUTES) return undefined;
  return {
    reason: "WINDOW_INVALID",
    text: `must last at most ${MAX_WINDOW_MINUTES / 60} hours`,
  };
}

/** Fee of a window according to the opening hours, and the violation if the window does not match them. */
interface HoursMatch {
  readonly feeMinor: number;
  readonly capacity?: Slot["capacity"];
  readonly violation?: WindowViolation;
}

function matchHours(calendar: Calendar, window: Span, day: Day): HoursMatch {
  const { slotMinutes, timeZone } = calendar.schedule;
  const slot = slotStartingAt(calendar, window.startMs);
  if (slot?.endMs === window.endMs) return { feeMinor: slot.feeMinor, capacity: slot.capacity };
  // The longest window, 25 hours, can end two days after its start date.
  const days = [-1, 0, 1, 2].map((offset) => calendar.day(day.number + offset));
  const touched = openingsOver(window, days);
  if (touched === undefined) {
    const text = `must be within the hours of its zone, in the time zone ${timeZone}`;
    return { feeMinor: 0, violation: { reason: "OUTSIDE_HOURS", text } };
  }
  const feeMinor = Math.max(...touched.map((opening) => opening.feeMinor));
  if (slotMinutes === undefined) return { feeMinor };
  const text = `must be one of the slots of ${slotMinutes} minutes that GET /v1/pickup_slots lists`;
  return { feeMinor, violation: { reason: "WINDOW_INVALID", text } };
}

/**
 * Returns the opening hours that together cover a window. Adjacent hours count as one. Returns
 * `undefined` if the window is not fully covered.
 */
function openingsOver(window: Span, days: readonly Day[]): readonly Opening[] | undefined {
  const touched = days
    .flatMap(({ openings }) => openings)
    .filter(({ startMs, endMs }) => startMs < window.endMs && window.startMs < endMs)
    .toSorted((a, b) => a.startMs - b.startMs);
  let coveredMs = window.startMs;
  for (const { startMs, endMs } of touched) {
    if (startMs > coveredMs) return undefined;
    coveredMs = Math.max(coveredMs, endMs);
  }
  return coveredMs >= window.endMs ? touched : undefined;
}

/** Returns the earliest booking deadline for windows that start at an instant, or `undefined`. */
export function cutOffOf({ cutOffs }: Day, startMs: number): number | undefined {
  let earliest: number | undefined;
  for (const cutOff of cutOffs) {
    const applies = cutOff.startMs <= startMs && startMs < cutOff.endMs;
    if (applies && !(earliest! <= cutOff.atMs)) earliest = cutOff.atMs;
  }
  return earliest;
}

function tooSoon({ schedule: { leadTimeMinutes } }: Calendar): WindowViolation {
  const least = leadTimeMinutes === 0 ? "now" : `${leadTimeMinutes} minutes from now`;
  return { reason: "TOO_SOON", text: `must start at least ${least}` };
}

function timeViolations(
  calendar: Calendar,
  { startMs }: Span,
  { day, cutOffAtMs, nowMs }: { day: Day; cutOffAtMs: number | undefined; nowMs: number },
): WindowViolation[] {
  const { leadTimeMinutes, horizonDays } = calendar.schedule;
  const violations: WindowViolation[] = [];
  if (cutOffAtMs !== undefined && nowMs > cutOffAtMs) {
    const text = `had to be booked by ${new Date(cutOffAtMs).toISOString()}`;
    violations.push({ reason: "CUT_OFF_PASSED", text });
  }
  if (startMs < nowMs + leadTimeMinutes * MINUTE_MS) violations.push(tooSoon(calendar));
  if (day.number > calendar.dayOf(nowMs).number + horizonDays) {
    const text = `must start at most ${horizonDays} days from today`;
    violations.push({ reason: "TOO_FAR_AHEAD", text });
  }
  return violations;
}
