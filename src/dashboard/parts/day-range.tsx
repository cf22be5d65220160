import { usePlace } from "../router.ts";
import { withQuery } from "../paths.ts";
import { Filters } from "./filters.tsx";
import { TextField } from "./form.tsx";
import { Tabs } from "./tabs.tsx";

/** How many days can be chosen at a click, today included. */
const SPANS = [7, 30, 90] as const;
const DEFAULT_SPAN = 30;
const DAY_MS = 86_400_000;

/** Days in UTC, as `2026-11-01`. */
interface Range {
  readonly fromDate: string;
  readonly toDate: string;
}

/** The days that the address asks for: `from` and `to`, or the last so many `days`. */
export function useDayRange(): Range {
  const { query } = usePlace();
  const to = query.get("to") || dayText(new Date());
  const from = query.get("from") || daysBefore(to, spanOf(query) - 1);
  return { fromDate: from, toDate: to };
}

function spanOf(query: URLSearchParams): number {
  const days = Number(query.get("days"));
  return SPANS.find((span) => span === days) ?? DEFAULT_SPAN;
}

/** A day that is none is left for the service to refuse. */
function daysBefore(day: string, days: number): string {
  const date = new Date(`${day}T00:00Z`);
  return Number.isNaN(date.getTime()) ? day : dayText(new Date(date.getTime() - days * DAY_MS));
}

function dayText(date: Date): string {
  return date.toISOString().slice(0, 10);
}

/** Chooses the days of a report; they are in the address. */
export function DayRange() {
  const { pathname, query } = usePlace();
  const isOwn = query.has("from") || query.has("to");
  const { fromDate, toDate } = useDayRange();
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
      <Filters names={["from", "to"]}>
        <TextField name="from" label="First day (UTC)" type="date" value={isOwn ? fromDate : ""} />
        <TextField name="to" label="Last day (UTC)" type="date" value={isOwn ? toDate : ""} />
      </Filters>
    </div>
  );
}
