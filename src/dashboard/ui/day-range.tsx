import type { Labels } from "../api/problem.ts";
import { usePlace } from "../routes/router.ts";
import { daysOf } from "./days.ts";
import { Filters, filterValues } from "./filters.tsx";
import { addDays } from "./local-time.ts";
import { QuickDays } from "./quick-days.tsx";

const USUAL = "30";
const DAY_MS = 86_400_000;

const FILTERS = {
  from: { label: "First day", of: "day" },
  to: { label: "Last day", of: "day" },
} as const;

export const DAY_LABELS: Labels = new Map([
  ["from_date", "First day"],
  ["to_date", "Last day"],
]);

/** Days as `2026-11-01`. */
export interface Range {
  readonly fromDate: string;
  readonly toDate: string;
}

/**
 * The days that the address asks for, or the last 30.
 *
 * @param now the day that it is
 */
export function useDayRange(now: string): Range {
  const { query } = usePlace();
  const typed = filterValues(query, FILTERS);
  const { from, to = now } = daysOf(query, typed, now, USUAL);
  return { fromDate: from ?? addDays(to, 1 - Number(USUAL)), toDate: to };
}

export function rangeBefore({ fromDate, toDate }: Range): Range {
  const count = Math.round((Date.parse(toDate) - Date.parse(fromDate)) / DAY_MS) + 1;
  return { fromDate: addDays(fromDate, -count), toDate: addDays(fromDate, -1) };
}

/** Chooses the days of a report; they are in the address. */
export function DayRange() {
  return (
    <div class="day-range">
      <QuickDays usual={USUAL} />
      <Filters fields={FILTERS} />
    </div>
  );
}
