import { addDays, localDate } from "./local-time.ts";
import { withQuery } from "../routes/paths.ts";
import { usePlace } from "../routes/router.ts";
import type { Choices } from "./fields.tsx";
import { FIRST_PAGE } from "./pager.tsx";
import "./filters.css";
import type { Labels } from "../api/problem.ts";
import { Filters, filterValues, SPAN } from "./filters.tsx";

/** The day that it is now in a time zone, as `2026-11-22`; in the reader's own when none is given. */
export function today(timeZone?: string): string {
  return localDate(new Date(), timeZone);
}

/** The first and the last of some days, both included; undefined without a bound. */
interface Days {
  readonly from: string | undefined;
  readonly to: string | undefined;
}

/** Days that are chosen at a click, by their names in addresses. */
const SPANS: Readonly<Record<string, readonly [label: string, daysAt: (day: string) => Days]>> = {
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
function spanOf(query: URLSearchParams): string | undefined {
  const name = query.get(SPAN) ?? "";
  return Object.hasOwn(SPANS, name) ? name : undefined;
}

/** What the span of an address is called. */
export function spanLabel(query: URLSearchParams): string | undefined {
  return SPANS[spanOf(query) ?? ""]?.[0];
}

/** Links to the same page with one thing of the address as another, of which one is current. */
export function LinkChoice(props: {
  readonly label: string;
  readonly name: string;
  /** Values and what they are called; the empty one leaves the name out. */
  readonly choices: Choices;
  /** The value that is current; undefined for none of them. */
  readonly current: string | undefined;
  /** What else of the address is left out by a choice. */
  readonly without?: readonly string[];
}) {
  const { name, current, without = [] } = props;
  const { pathname, query } = usePlace();
  const others = Object.fromEntries(query);
  for (const left of [...Object.keys(FIRST_PAGE), ...without]) delete others[left];
  return (
    <nav class="quick-days" aria-label={props.label}>
      {props.choices.map(([value, label]) => (
        <a
          key={value}
          href={withQuery(pathname, { ...others, [name]: value })}
          aria-current={value === current ? "true" : undefined}
        >
          {label}
        </a>
      ))}
    </nav>
  );
}

/** Narrows a page to days at a click. Those of the span are in the address, in place of days that were typed. */
export function QuickDays(props: {
  /** The span where the address names no days; every day when not given, and then that can be chosen too. */
  readonly usual?: string;
}) {
  const { query } = usePlace();
  const isTyped = Boolean(query.get("from")) || Boolean(query.get("to"));
  const current = isTyped ? undefined : (spanOf(query) ?? props.usual ?? "");
  const names = props.usual === undefined ? OF_LISTS : OF_REPORTS;
  const spans = names.map((name) => [name, SPANS[name]![0]] as const);
  const choices = props.usual === undefined ? [["", "Any day"] as const, ...spans] : spans;
  return <LinkChoice label="Days" name={SPAN} without={["from", "to"]} {...{ choices, current }} />;
}

/** Those of most lists; reports look further back too. */
const OF_LISTS = ["today", "yesterday", "7", "30", "month"];
const OF_REPORTS = [...OF_LISTS, "90"];

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
interface Range {
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
