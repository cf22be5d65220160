import { addDays, localDate } from "./local-time.ts";
import { withQuery } from "../routes/paths.ts";
import { useLocation } from "../routes/router.ts";
import type { Choices } from "./fields.tsx";
import { FIRST_PAGE } from "./pager.tsx";
import "./filters.css";
import type { Labels } from "../api/problem.ts";
import { FilterForm, filterValues, LeftOut, SPAN } from "./filters.tsx";
import { Menu } from "./menu.tsx";
import { dateFormat } from "./intl.ts";

/** Returns the current day, such as `2026-11-22`, in a time zone. Defaults to the browser's zone. */
export function today(timeZone?: string): string {
  return localDate(new Date(), timeZone);
}

/** First and last day of a range, both inclusive. `undefined` for an open bound. */
interface Days {
  readonly from: string | undefined;
  readonly to: string | undefined;
}

/** Predefined day ranges, by their names in URLs. */
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
 * Returns the day range that the URL selects: typed days, otherwise the named range.
 *
 * @param usual name of the default range; all days if omitted
 */
export function daysOf(query: URLSearchParams, typed: Days, now: string, usual?: string): Days {
  if (typed.from !== undefined || typed.to !== undefined) return typed;
  return SPANS[spanOf(query) ?? usual ?? ""]?.[1](now) ?? typed;
}

/** Returns the named range in the URL, or `undefined` if it is missing or unknown. */
function spanOf(query: URLSearchParams): string | undefined {
  const name = query.get(SPAN) ?? "";
  return Object.hasOwn(SPANS, name) ? name : undefined;
}

export function spanLabel(query: URLSearchParams): string | undefined {
  return SPANS[spanOf(query) ?? ""]?.[0];
}

/** A group of links that set one query parameter of the page. */
export function LinkChoice(props: {
  readonly label: string;
  readonly name: string;
  /** Values with their labels. The empty value removes the parameter. */
  readonly choices: Choices;
  /** Current value, `undefined` if no choice is current. */
  readonly current: string | undefined;
  /** Other query parameters that a choice removes. */
  readonly without?: readonly string[];
}) {
  const { name, current, without = [] } = props;
  const { pathname, query } = useLocation();
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

/** Filters a page by a predefined day range. Choosing one removes typed days from the URL. */
export function QuickDays(props: {
  /** Default range. If omitted, the default is all days, which also becomes a choice. */
  readonly usual?: string;
}) {
  const { query } = useLocation();
  const isTyped = Boolean(query.get("from")) || Boolean(query.get("to"));
  const current = isTyped ? undefined : (spanOf(query) ?? props.usual ?? "");
  const names = props.usual === undefined ? OF_LISTS : OF_REPORTS;
  const spans = names.map((name) => [name, SPANS[name]![0]] as const);
  const choices = props.usual === undefined ? [["", "Any day"] as const, ...spans] : spans;
  return <LinkChoice label="Days" name={SPAN} without={["from", "to"]} {...{ choices, current }} />;
}

/** Ranges for most lists. Reports offer an additional, longer one. */
const OF_LISTS = ["today", "yesterday", "7", "30", "month"];
const OF_REPORTS = [...OF_LISTS, "90"];

const DEFAULT_DAYS = "30";
const DAY_MS = 86_400_000;

const FILTERS = {
  from: { label: "First day", of: "day" },
  to: { label: "Last day", of: "day" },
} as const;

export const DAY_LABELS: Labels = new Map([
  ["from_date", "First day"],
  ["to_date", "Last day"],
]);

/** Days such as `2026-11-01`. */
interface Range {
  readonly fromDate: string;
  readonly toDate: string;
}

/**
 * Returns the days that the URL selects, by default the last 30.
 *
 * @param now the current day
 */
export function useDayRange(now: string): Range {
  const { query } = useLocation();
  const typed = filterValues(query, FILTERS);
  const { from, to = now } = daysOf(query, typed, now, DEFAULT_DAYS);
  return { fromDate: from ?? addDays(to, 1 - Number(DEFAULT_DAYS)), toDate: to };
}

export function rangeBefore({ fromDate, toDate }: Range): Range {
  const count = Math.round((Date.parse(toDate) - Date.parse(fromDate)) / DAY_MS) + 1;
  return { fromDate: addDays(fromDate, -count), toDate: addDays(fromDate, -1) };
}

/** Chooses a report's days, which are stored in the URL. Names the days to which they are compared. */
export function DayRange({ now }: { readonly now: string }) {
  const { query } = useLocation();
  const range = useDayRange(now);
  const before = rangeBefore(range);
  const isTyped = Boolean(query.get("from")) || Boolean(query.get("to"));
  const name = !isTyped && SPANS[spanOf(query) ?? DEFAULT_DAYS]![0];
  return (
    <>
      <div class="chips" role="group" aria-label="Days">
        <Menu label={[name, daysText(range.fromDate, range.toDate)].filter(Boolean).join(": ")}>
          <QuickDays usual={DEFAULT_DAYS} />
          <FilterForm fields={FILTERS} />
        </Menu>
        <span class="minor">
          compared to {daysText(before.fromDate, before.toDate)}
          {range.toDate >= now && "; changes exclude today"}
        </span>
      </div>
      <LeftOut fields={FILTERS} />
    </>
  );
}

const DAY_FORMATS = {
  full: { dateStyle: "full" },
  medium: { dateStyle: "medium" },
  short: { month: "short", day: "numeric" },
} as const;

/** Formats a day such as `2026-11-01` for the browser's locale: with the weekday, with the year, or without both. */
export function dayText(day: string, length: keyof typeof DAY_FORMATS): string {
  return dateFormat(undefined, { ...DAY_FORMATS[length], timeZone: "UTC" }).format(new Date(day));
}

/** Formats a range of days for the browser's locale: `Nov 1 – 5, 2026`. An empty day is an open bound. */
export function daysText(from: string, to: string): string {
  if (from === "" || to === "") return `${from && dayText(from, "medium")} – ${to && dayText(to, "medium")}`;
  return dateFormat(undefined, { ...DAY_FORMATS.medium, timeZone: "UTC" }).formatRange(new Date(from), new Date(to));
}
