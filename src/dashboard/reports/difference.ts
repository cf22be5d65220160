import type { Overview, OverviewDay } from "../../../gen/shipments/v1/report_pb.js";
import { shareText } from "../ui/format.ts";

/** A period and the previous period of the same length. Only complete days are compared. */
export interface Comparison {
  readonly overview: Overview;
  readonly before: Overview | undefined;
  readonly today: string;
}

/**
 * Describes the change from the previous period: `Up 12.5%`. Excludes an incomplete day and its
 * counterpart and mentions the exclusion. `undefined` if no day is complete or a value is unknown.
 */
export function differenceText(
  { overview, before, today }: Comparison,
  valueOf: (day: OverviewDay) => number | undefined,
): string | undefined {
  const count = overview.days.filter(({ date }) => date < today).length;
  const sumOf = (days: readonly OverviewDay[]) =>
    days
      .slice(0, count)
      .map(valueOf)
      .reduce<number | undefined>(
        (sum, value) => (sum === undefined || value === undefined ? undefined : sum + value),
        0,
      );
  const [now, then] = [sumOf(overview.days), sumOf(before?.days ?? [])];
  if (count === 0 || before === undefined || now === undefined || then === undefined) {
    return undefined;
  }
  const text = comparisonText(now, then);
  return count === overview.days.length ? text : `${text} on complete days`;
}

function comparisonText(now: number, then: number): string {
  if (now === then) return now === 0 ? "Zero in both periods" : "No change";
  if (then === 0) return "Zero in the previous period";
  const share = shareText(Math.abs(now - then) / then);
  return `${now > then ? "Up" : "Down"} ${share}`;
}
