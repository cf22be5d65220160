import { addDays, localDate } from "./local-time.ts";

/** The day that it is now in a time zone, as `2026-11-22`; in the reader's own when none is given. */
export function today(timeZone?: string): string {
  return localDate(new Date(), timeZone);
}

/** The first and the last of some days, both included; undefined without a bound. */
export interface Days {
  readonly from: string | undefined;
  readonly to: string | undefined;
}

/** The name of a span of days in addresses. Such an address goes on to mean the days up to today. */
export const SPAN = "days";

/** Days that are chosen at a click, by their names in addresses. */
export const SPANS: Readonly<
  Record<string, readonly [label: string, daysAt: (day: string) => Days]>
> = {
  today: ["Today", (day) => ({ from: day, to: day })],
  yesterday: ["Yesterday", (day) => ({ from: addDays(day, -1), to: addDays(day, -1) })],
  7: ["Last 7 days", lastDays(7)],
  30: ["Last 30 days", lastDays(30)],
  90: ["Last 90 days", lastDays(90)],
  month: ["This month", (day) => ({ from: `${day.slice(0, 8)}01`, to: day })],
};

function lastDays(count: number): (day: string) => Days {
  return (day) => ({ from: addDays(day, 1 - count), to: day });
}

/**
 * The days that an address asks for: those that were typed, else those of its span.
 *
 * @param usual the span where it names none; every day when not given
 */
export function daysOf(query: URLSearchParams, typed: Days, now: string, usual?: string): Days {
  if (typed.from !== undefined || typed.to !== undefined) return typed;
  return SPANS[spanOf(query) ?? usual ?? ""]?.[1](now) ?? typed;
}

/** The name of the span that an address asks for; undefined where there is none of the name. */
export function spanOf(query: URLSearchParams): string | undefined {
  const name = query.get(SPAN) ?? "";
  return Object.hasOwn(SPANS, name) ? name : undefined;
}
