import type { End, Ends } from "../route-ends.ts";
import type { Span } from "../schedule/calendar.ts";
import { decideWindows, NO_WINDOWS, type BookedWindow, type WindowsDecision } from "../schedule/decide-windows.ts";
import { calendarsOf, quote, withWindowFee, type Pricing, type Quote, type Route } from "./pricing.ts";

export interface WindowsOfRoute {
  readonly windows: Ends<Span>;
  /** Ends whose booked windows stay unchanged. These windows are not validated again. */
  readonly unchanged?: Partial<Record<End, BookedWindow | "no window">>;
}

/**
 * Checks whether the requested windows can be booked on a covered route. Returns the fee or the violations. Used for
 * quotes, bookings and updates.
 */
export function decideRoute(
  pricing: Pricing,
  route: Route,
  { windows, unchanged = {} }: WindowsOfRoute,
  nowMs: number,
): WindowsDecision {
  if (pricing.calendars === undefined && !windows.pickup && !windows.dropoff) return NO_WINDOWS;
  const { pickup, dropoff } = calendarsOf(pricing, route);
  // An end without a calendar requires no window.
  const calendars = {
    pickup: unchanged.pickup === "no window" ? undefined : pickup,
    dropoff: unchanged.dropoff === "no window" ? undefined : dropoff,
  };
  const bookedAt = (end: End) => {
    const window = unchanged[end];
    return window === "no window" ? undefined : window;
  };
  const booked = { pickup: bookedAt("pickup"), dropoff: bookedAt("dropoff") };
  return decideWindows({ calendars, windows, booked }, nowMs);
}

/** A route with its windows, evaluated as of a time. */
export interface BookableRoute {
  readonly route: Route;
  readonly windows: Ends<Span>;
  readonly atMs: number;
}

/**
 * Returns the price of a route with its windows, or the reasons why it cannot be booked. Only the
 * first error in the windows is returned.
 */
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
