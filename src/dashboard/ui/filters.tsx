import { timestampFromDate, type Timestamp } from "@bufbuild/protobuf/wkt";
import type { ComponentChildren, ComponentType, TargetedEvent } from "preact";
import { useRef } from "preact/hooks";
import { changeQuery, type Going, usePlace } from "../routes/router.ts";
import { SelectField, TextField, type Choices } from "./fields.tsx";
import { textOf } from "./form-data.ts";
import { recordIdOf } from "./format.ts";
import { addDays, instantOf } from "./local-time.ts";
import { FIRST_PAGE } from "./pager.tsx";
import "./filters.css";

/** The name of a span of days in addresses. Such an address goes on to mean the days up to today. */
export const SPAN = "days";

export interface Filter {
  readonly label: string;
  /** Of any text by default: a day as `2026-11-01`, the number of a record, or one of `choices`. */
  readonly of?: "day" | "number";
  readonly choices?: Choices;
  /** The API's enum of the choices, where its names are other words. */
  readonly names?: Readonly<Record<string, string | number>>;
  readonly placeholder?: string;
  /** What shows a value in words, and what finds one, where it is not typed. */
  readonly Value?: ComponentType<{ readonly value: string }>;
  readonly Finder?: ComponentType<{ readonly choose: (value: string) => void }>;
}

export type FilterFields = Readonly<Record<string, Filter>>;

/** What the address asks for, by the names of filters; without what a filter cannot be. */
export function filterValues<F extends FilterFields>(
  query: URLSearchParams,
  fields: F,
): { readonly [Name in keyof F]: string | undefined } {
  const values = Object.entries(fields).map(([name, filter]) => {
    const value = query.get(name);
    return [name, value === null ? undefined : valueOf(filter, value)] as const;
  });
  return Object.fromEntries(values) as { readonly [Name in keyof F]: string | undefined };
}

const DAY = /^2\d{3}-\d\d-\d\d$/;

/** The value of a filter that the address gives; a choice by what the API calls it too. */
function valueOf({ of, choices, names }: Filter, value: string): string | undefined {
  if (of === "number") return recordIdOf(value) === undefined ? undefined : value;
  if (of === "day") {
    const ms = DAY.test(value) ? Date.parse(`${value}T00:00Z`) : NaN;
    const isDay = !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(value);
    return isDay ? value : undefined;
  }
  if (value === "" || choices === undefined) return value;
  const word = value.toUpperCase();
  const isWord = (text: string) => text.toUpperCase().replaceAll(" ", "_") === word;
  const chosen = choices.find(
    ([choice, label]) => choice === value || isWord(label) || choice === String(names?.[word]),
  );
  return chosen?.[0];
}

function leftOut({ label, of, choices }: Filter, value: string): string {
  const refusal = `“${value}” is left out of the filters: ${label}`;
  if (of === "day") return `${refusal} takes a day such as 2026-11-01.`;
  if (of === "number") return `${refusal} takes a whole number.`;
  const names = choices!.map(([, name]) => name);
  return `${refusal} can be ${new Intl.ListFormat(undefined, { type: "disjunction" }).format(names)}.`;
}

/**
 * Fields that narrow a list down. Each is in the address's query by its name; a change takes effect
 * when the field is left or Enter is pressed, and leads to the first page.
 */
export function Filters({ fields }: { readonly fields: FilterFields }) {
  return (
    <>
      <FilterForm fields={fields} />
      <LeftOut fields={fields} />
    </>
  );
}

/** The fields alone. */
export function FilterForm({ fields }: { readonly fields: FilterFields }) {
  const names = Object.keys(fields);
  const { query } = usePlace();
  const given = names.map((name) => query.get(name) ?? "");
  const values = filterValues(query, fields);
  const shown = useShown(given.join("\n"));
  const listeners = useTyping(fields, given, shown);
  // Made anew when the address changes otherwise, such as by "back", to show what it says; not when a field changes
  // it, which would take the focus away.
  return (
    <form key={shown.round} class="filters" role="search" aria-label="Filters" {...listeners}>
      {Object.entries(fields).map(([name, filter]) => filterField(name, filter, values[name]))}
    </form>
  );
}

/** What of the address cannot be. */
export function LeftOut({ fields }: { readonly fields: FilterFields }) {
  const { query } = usePlace();
  const values = filterValues(query, fields);
  const wrong = Object.keys(fields).filter((name) => query.get(name) && values[name] === undefined);
  if (wrong.length === 0) return null;
  return (
    <div class="problem attention" role="status">
      {wrong.map((name) => (
        <p key={name}>{leftOut(fields[name]!, query.get(name)!)}</p>
      ))}
    </div>
  );
}

/** Puts what is typed into the address: each field when it is left or Enter is pressed, a day once it is one. */
function useTyping(fields: FilterFields, given: readonly string[], shown: { text: string }) {
  const names = Object.keys(fields);
  // The day that is being typed. Each digit makes another, and the year 2026 is the year 2 at first.
  const day = useRef<{
    readonly field: EventTarget;
    readonly isHeld: boolean;
    readonly isApplied: boolean;
  }>(undefined);
  const apply = (form: HTMLFormElement, going?: Going) => {
    const data = new FormData(form);
    const typed = names.map((name) => textOf(data, name));
    if (typed.every((text, i) => text === given[i])) return;
    shown.text = typed.join("\n");
    changeQuery(changesOf(fields, typed), going);
  };
  return {
    onChange({ currentTarget, target }: TargetedEvent<HTMLFormElement>) {
      const field = target as HTMLInputElement;
      const isDay = fields[field.name]?.of === "day";
      // A part of a day is none, which would take the filter away.
      const isPart = field.validity.badInput || (field.value !== "" && !DAY.test(field.value));
      const isHeld = isDay && isPart;
      const before = day.current?.field === field ? day.current : undefined;
      // The way back leads to before it was typed.
      const replace = before?.isApplied === true;
      if (!isHeld) apply(currentTarget, { replace });
      day.current = isDay ? { field, isHeld, isApplied: replace || !isHeld } : undefined;
    },
    onFocusOut({ currentTarget }: TargetedEvent<HTMLFormElement>) {
      if (day.current?.isHeld) apply(currentTarget);
      day.current = undefined;
    },
    onSubmit(event: TargetedEvent<HTMLFormElement>) {
      event.preventDefault();
      apply(event.currentTarget);
    },
  };
}

/** What fields that hold these texts change of the address. Days that are typed take the place of a span. */
function changesOf(fields: FilterFields, texts: readonly string[]) {
  const typed = Object.entries(fields).map(([name, { of }], i) => ({ name, of, text: texts[i] }));
  const hasDays = typed.some(({ of, text }) => of === "day" && text);
  const changes = Object.fromEntries(typed.map(({ name, text }) => [name, text]));
  return { ...changes, ...(hasDays && { [SPAN]: undefined }), ...FIRST_PAGE };
}

/** What fields hold; `round` counts how often it was changed by others than who sets `text`. */
function useShown(text: string): { text: string; readonly round: number } {
  const shown = useRef({ text, round: 0 });
  if (shown.current.text !== text) shown.current = { text, round: shown.current.round + 1 };
  return shown.current;
}

function filterField(name: string, filter: Filter, value: string | undefined): ComponentChildren {
  const { label, of, choices, placeholder } = filter;
  const field = { key: name, name, label, value: value ?? "" };
  if (choices !== undefined) return <SelectField {...field} choices={[["", "Any"], ...choices]} />;
  return (
    <TextField
      {...field}
      numeric={of === "number"}
      type={of === "day" ? "date" : "text"}
      placeholder={placeholder ?? ""}
    />
  );
}

/**
 * The bounds of a filter by days of a time zone, both included, for a request whose bounds are exclusive.
 * Days are as `2026-11-01`; a bound is undefined without one.
 *
 * @param timeZone the reader's own when undefined
 */
export function boundsOfDays(
  first: string | undefined,
  last: string | undefined,
  timeZone: string | undefined,
): { readonly createdAfter: Timestamp | undefined; readonly createdBefore: Timestamp | undefined } {
  // What was made in the first millisecond of a day belongs to it.
  const startOf = (day: string | undefined, ms: number): Timestamp | undefined => {
    const start = day === undefined ? undefined : instantOf(day, "00:00", timeZone);
    return start && timestampFromDate(new Date(start.getTime() + ms));
  };
  return {
    createdAfter: startOf(first, -1),
    createdBefore: startOf(last && addDays(last, 1), 0),
  };
}
