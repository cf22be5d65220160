import { isoTime } from "../instant.ts";
import type { Violation } from "../refusal.ts";
import type { End, Ends } from "../route-ends.ts";
import { type Calendar, type Span } from "./calendar.ts";
import { decideWindow, type WindowDecision } from "./decide-window.ts";
import type { WindowSlot } from "./slot-load.ts";
import { nextAvailable } from "./slots.ts";

/** A window that is booked or can be booked, with its fee. */
export interface BookedWindow extends Span {
  /** Time zone of the schedule at the time of booking. */
  readonly timeZone: string;
  readonly feeMinor: number;
  /** The slot, if its places are counted. */
  readonly slot?: WindowSlot | undefined;
}

export interface RequestedWindows {
  readonly calendars: Ends<Calendar>;
  readonly windows: Ends<Span>;
  /** Windows that are already booked, by end. They are not validated again. */
  readonly booked?: Ends<BookedWindow>;
}

export interface WindowsDecision {
  /** Reasons why the windows cannot be booked. Empty if they can. */
  readonly violations: readonly Violation[];
  /**
   * Machine-readable alternatives: `cut_off_at`, the deadline of a refused pickup window, and `next_available` and
   * `next_available_end`, the next window that can be booked. Names for the dropoff window have the prefix `dropoff_`.
   */
  readonly facts: Readonly<Record<string, string>>;
  readonly windows: Ends<BookedWindow>;
  readonly feeMinor: number;
}

/** Decision for a route that neither has nor requires windows. */
export const NO_WINDOWS: WindowsDecision = {
  violations: [],
  facts: {},
  windows: { pickup: undefined, dropoff: undefined },
  feeMinor: 0,
};

/**
 * Decides both windows of a route with `decideWindow`. Adds WINDOW_INVALID if the dropoff window
 * starts or ends before the pickup window.
 */
export function decideWindows(requested: RequestedWindows, nowMs: number): WindowsDecision {
  const pickup = decideEnd("pickup", requested, nowMs);
  const dropoff = decideEnd("dropoff", requested, nowMs);
  const order = orderViolation(requested.windows);
  return {
    violations: [...pickup.violations, ...dropoff.violations, ...order],
    facts: { ...pickup.facts, ...dropoff.facts },
    windows: { pickup: pickup.window, dropoff: dropoff.window },
    feeMinor: (pickup.window?.feeMinor ?? 0) + (dropoff.window?.feeMinor ?? 0),
  };
}

interface EndDecision extends Pick<WindowsDecision, "violations" | "facts"> {
  readonly window?: BookedWindow;
}

function decideEnd(end: End, requested: RequestedWindows, nowMs: number): EndDecision {
  const calendar = requested.calendars[end];
  const booked = requested.booked?.[end];
  if (booked !== undefined) return { violations: [], facts: {}, window: withCurrentSlot(booked, calendar, nowMs) };
  const window = requested.windows[end];
  if (window === undefined) return decideWithout(end, calendar, nowMs);
  if (calendar === undefined) {
    return invalid(end, `must be omitted: the zone of the ${end} has no schedule`);
  }
  const decision = decideWindow(calendar, window, nowMs);
  if (decision.violations.length > 0) {
    return refusal(end, decision, nextAvailable(calendar, window, nowMs));
  }
  const { startMs, endMs } = window;
  const { timeZone, name: schedule } = calendar.schedule;
  const { feeMinor, capacity } = decision;
  const slot = capacity === undefined ? {} : { slot: { schedule, capacity, calendar } };
  return { violations: [], facts: {}, window: { startMs, endMs, timeZone, feeMinor, ...slot } };
}

/** Adds the current capacity to a booked window's slot. */
function withCurrentSlot(booked: BookedWindow, calendar: Calendar | undefined, nowMs: number): BookedWindow {
  if (booked.slot === undefined || calendar?.schedule.name !== booked.slot.schedule) return booked;
  const { capacity } = decideWindow(calendar, booked, nowMs);
  return { ...booked, slot: { ...booked.slot, capacity, calendar } };
}

/**
 * Returns the refusal of a window in a full slot.
 *
 * @param next next window with a free place
 */
export function fullWindow(end: End, next: Span | undefined): Pick<WindowsDecision, "violations" | "facts"> {
  const violation = { reason: "SLOT_FULL", text: "is full" } as const;
  return refusal(end, { violations: [violation], cutOffAtMs: undefined }, next);
}

/** Decides an end without a requested window. A pickup without a window means as soon as possible. */
function decideWithout(end: End, calendar: Calendar | undefined, nowMs: number): EndDecision {
  if (end === "dropoff" || calendar === undefined || calendar.schedule.asSoonAsPossible) {
    return { violations: [], facts: {} };
  }
  const next = nextAvailable(calendar, { startMs: nowMs, endMs: nowMs }, nowMs);
  return invalid(end, "is required: the zone does not offer pickup as soon as possible", next);
}

function invalid(end: End, text: string, next?: Span): EndDecision {
  const violation = { reason: "WINDOW_INVALID", text } as const;
  return refusal(end, { violations: [violation], cutOffAtMs: undefined }, next);
}

/**
 * Creates a decision that refuses the window with all violations. The first message also contains
 * the alternatives, for callers that do not read the facts.
 */
function refusal(
  end: End,
  decision: Pick<WindowDecision, "violations" | "cutOffAtMs">,
  next: Span | undefined,
): EndDecision {
  const subject = `${end}_window`;
  const violations = decision.violations.map(({ reason, text }, i) => ({
    reason,
    subject,
    text: `${subject} ${text}${i === 0 ? nextText(next) : ""}.`,
  }));
  return { violations, facts: factsOf(end, decision.cutOffAtMs, next) };
}

function nextText(next: Span | undefined): string {
  if (next === undefined) return "";
  return `. The next available window is ${isoTime(next.startMs)} to ${isoTime(next.endMs)}`;
}

function factsOf(end: End, cutOffAtMs: number | undefined, next: Span | undefined): Record<string, string> {
  const prefix = end === "pickup" ? "" : "dropoff_";
  const instants = {
    cut_off_at: cutOffAtMs,
    next_available: next?.startMs,
    next_available_end: next?.endMs,
  };
  return Object.fromEntries(
    Object.entries(instants)
      .filter((entry): entry is [string, number] => entry[1] !== undefined)
      .map(([name, instantMs]) => [`${prefix}${name}`, isoTime(instantMs)]),
  );
}

/** Returns a violation if the dropoff window starts or ends before the pickup window. */
function orderViolation({ pickup, dropoff }: Ends<Span>): Violation[] {
  if (pickup === undefined || dropoff === undefined) return [];
  if (dropoff.startMs >= pickup.startMs && dropoff.endMs >= pickup.endMs) return [];
  const text = "dropoff_window must neither start nor end before pickup_window does.";
  return [{ reason: "WINDOW_INVALID", subject: "dropoff_window", text }];
}
