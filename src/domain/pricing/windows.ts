import type { Span } from "../schedule/calendar.ts";
import {
  decideWindows,
  NO_WINDOWS,
  type BookedWindow,
  type Ends,
  type WindowsDecision,
} from "../schedule/decide-windows.ts";
import {
  calendarsOf,
  quote,
  withWindowFee,
  type Pricing,
  type Quote,
  type Route,
} from "./pricing.ts";

export interface WindowsOfRoute {
  readonly windows: Ends<Span>;
  /** What is booked at the ends that stay as they are, which are not decided again. */
  readonly kept?: Partial<Record<keyof Ends<unknown>, BookedWindow | "no window">>;
}

/** Decides the windows of a route whose ends are both covered: one way for quotes, bookings and updates. */
export function decideRoute(
  pricing: Pricing,
  route: Route,
  { windows, kept = {} }: WindowsOfRoute,
  nowMs: number,
): WindowsDecision {
  if (pricing.calendars === undefined && !windows.pickup && !windows.dropoff) return NO_WINDOWS;
  const { pickup, dropoff } = calendarsOf(pricing, route);
  // Where there is no schedule, nobody has to ask for a window.
  const calendars = {
    pickup: kept.pickup === "no window" ? undefined : pickup,
    dropoff: kept.dropoff === "no window" ? undefined : dropoff,
  };
  const bookedAt = (end: keyof Ends<unknown>) => {
    const window = kept[end];
    return window === "no window" ? undefined : window;
  };
  const booked = { pickup: bookedAt("pickup"), dropoff: bookedAt("dropoff") };
  return decideWindows({ calendars, windows, booked }, nowMs);
}

/** A route with its windows, as it could be booked at a time. */
export interface BookableRoute {
  readonly route: Route;
  readonly windows: Ends<Span>;
  readonly atMs: number;
}

/** The price of a route with its windows, or why it cannot be booked, of windows the first reason. */
export function quoteBookable(pricing: Pricing, { route, windows, atMs }: BookableRoute): Quote {
  const quoted = quote(pricing, route);
  if (!quoted.covered) return quoted;
  const { violations, feeMinor } = decideRoute(pricing, route, { windows }, atMs);
  const [violation] = violations;
  if (violation === undefined) return withWindowFee(quoted, feeMinor);
  return {
    covered: false,
    failures: [{ failure: "window", message: violation.text }],
    outsideMeters: {},
    baseFeeMinor: quoted.baseFeeMinor,
    currency: quoted.currency,
  };
}
