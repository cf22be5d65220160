import type { Overview, OverviewDay } from "../../../gen/shipments/v1/report_pb.js";

/** A period and the previous period of the same length. */
export interface Comparison {
  readonly overview: Overview;
  readonly before: Overview | undefined;
  readonly today: string;
}

/**
 * Returns the relative change from the previous period: 0.5 for half more. Excludes an incomplete day and its counterpart.
 * `undefined` if no day is complete, or if the previous value is zero or unknown.
 */
export function changeOf({ overview, before, today }: Comparison, valueOf: (day: OverviewDay) => number) {
  const count = overview.days.filter(({ date }) => date < today).length;
  const sumOf = (days: readonly OverviewDay[] = []) => days.slice(0, count).reduce((sum, day) => sum + valueOf(day), 0);
  const then = sumOf(before?.days);
  return then === 0 ? undefined : sumOf(overview.days) / then - 1;
}
