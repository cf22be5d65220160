import type { Labels } from "../api/problem.ts";
import { withQuery } from "../routes/paths.ts";
import { usePlace } from "../routes/router.ts";
import { Filters, filterValues } from "./filters.tsx";
import { Tabs } from "./page.tsx";

/** How many days can be chosen at a click, today included. */
const SPANS = [7, 30, 90] as const;
const DEFAULT_SPAN = 30;
const DAY_MS = 86_400_000;

const FILTERS = {
  from: { label: "First day (UTC)", of: "day" },
  to: { label: "Last day (UTC)", of: "day" },
} as const;

/** What a refusal of the days calls them. */
export const DAY_LABELS: Labels = new Map([
  ["from_date", "First day"],
  ["to_date", "Last day"],
]);

/** Days in UTC, as `2026-11-01`. */
interface Range {
  readonly fromDate: string;
  readonly toDate: string;
}

/** The days that the address asks for: `from` and `to`, or the last so many `days`. */
export function useDayRange(): Range {
  const { query } = usePlace();
  const values = filterValues(query, FILTERS);
  const to = values.to ?? dayText(new Date());
  const from = values.from ?? daysBefore(to, spanOf(query) - 1);
  return { fromDate: from, toDate: to };
}

function spanOf(query: URLSearchParams): number {
  const days = Number(query.get("days"));
  return SPANS.find((span) => span === days) ?? DEFAULT_SPAN;
}

function daysBefore(day: string, days: number): string {
  return dayText(new Date(Date.parse(`${day}T00:00Z`) - days * DAY_MS));
}

function dayText(date: Date): string {
  return date.toISOString().slice(0, 10);
}

/** Chooses the days of a report; they are in the address. */
export function DayRange() {
  const { pathname, query } = usePlace();
  const isOwn = query.has("from") || query.has("to");
  return (
    <div>
      <Tabs
        label="Days"
        tabs={SPANS.map((span) => ({
          label: `${span} days`,
          href: withQuery(pathname, { days: String(span) }),
          current: !isOwn && span === spanOf(query),
        }))}
      />
      <Filters fields={FILTERS} />
    </div>
  );
}
