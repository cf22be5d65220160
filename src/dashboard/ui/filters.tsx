import { timestampFromDate, type Timestamp } from "@bufbuild/protobuf/wkt";
import type { ComponentChildren, ComponentType, TargetedEvent } from "preact";
import { useRef } from "preact/hooks";
import { changeQuery, type Going, useLocation } from "../routes/router.ts";
import { SelectField, TextField, type Choices } from "./fields.tsx";
import { textOf } from "./form-data.ts";
import { recordIdOf } from "./format.ts";
import { addDays, instantOf } from "./local-time.ts";
import { FIRST_PAGE } from "./pager.tsx";
import "./filters.css";

/** Query parameter of a named day range. Ranges are relative to today. */
export const SPAN = "days";

interface Filter {
  readonly label: string;
  /** Value type: a day such as `2026-11-01`, or a record number. Any text if omitted. */
  readonly of?: "day" | "number";
  readonly choices?: Choices;
  /** API enum of the choices, if its names differ from the labels. */
  readonly names?: Readonly<Record<string, string | number>>;
  readonly placeholder?: string;
  /** `Value` displays a value. `Finder` lets the user search for a value that cannot be typed. */
  readonly Value?: ComponentType<{ readonly value: string }>;
  readonly Finder?: ComponentType<{ readonly choose: (value: string) => void }>;
}

export type FilterFields = Readonly<Record<string, Filter>>;

/** Returns the URL's filter values by name. Invalid values are omitted. */
export function filterValues<F extends FilterFields>(query: URLSearchParams, fields: F) {
  const values = Object.entries(fields).map(([name, filter]) => {
    const value = query.get(name);
    return [name, value === null ? undefined : valueOf(filter, value)] as const;
  });
  return Object.fromEntries(values) as { readonly [Name in keyof F]: string | undefined };
}

const DAY = /^2\d{3}-\d\d-\d\d$/;

/** Returns a filter's value from the URL. A choice may also be given by its API name. */
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
  const refusal = `“${value}” was ignored: ${label}`;
  if (of === "day") return `${refusal} must be a day such as 2026-11-01.`;
  if (of === "number") return `${refusal} must be a whole number.`;
  const names = choices!.map(([, name]) => name);
  return `${refusal} must be ${new Intl.ListFormat(undefined, { type: "disjunction" }).format(names)}.`;
}

/**
 * Fields that filter a list. Each one sets the query parameter of the same name. A change applies
 * on blur or Enter and returns to the first page.
 */
export function Filters({ fields }: { readonly fields: FilterFields }) {
  return (
    <>
      <FilterForm fields={fields} />
      <LeftOut fields={fields} />
    </>
  );
}

/** The filter fields without their container. */
export function FilterForm({ fields }: { readonly fields: FilterFields }) {
  const names = Object.keys(fields);
  const { query } = useLocation();
  const texts = names.map((name) => query.get(name) ?? "");
  const values = filterValues(query, fields);
  const shown = useFieldTexts(texts.join("\n"));
  const listeners = useTyping(fields, texts, shown);
  // Remounted when the URL changes in other ways, such as "back". A field's own change does not
  // remount it, because that would lose the focus.
  return (
    <form key={shown.round} class="filters" role="search" aria-label="Filters" {...listeners}>
      {Object.entries(fields).map(([name, filter]) => filterField(name, filter, values[name]))}
    </form>
  );
}

/** Lists the query parameters that were ignored because their values are invalid. */
export function LeftOut({ fields }: { readonly fields: FilterFields }) {
  const { query } = useLocation();
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

/** Writes typed values to the URL on blur or Enter. A day is written as soon as it is complete. */
function useTyping(fields: FilterFields, texts: readonly string[], shown: { text: string }) {
  const names = Object.keys(fields);
  // The day being typed. Each digit changes the value: on the way to 2026, the year is 2 at first.
  const day = useRef<{
    readonly field: EventTarget;
    readonly isHeld: boolean;
    readonly isApplied: boolean;
  }>(undefined);
  const apply = (form: HTMLFormElement, going?: Going) => {
    const data = new FormData(form);
    const typed = names.map((name) => textOf(data, name));
    if (typed.every((text, i) => text === texts[i])) return;
    shown.text = typed.join("\n");
    changeQuery(changesOf(fields, typed), going);
  };
  return {
    onChange({ currentTarget, target }: TargetedEvent<HTMLFormElement>) {
      const field = target as HTMLInputElement;
      const isDay = fields[field.name]?.of === "day";
      // A partial date has no value, which would clear the filter.
      const isPart = field.validity.badInput || (field.value !== "" && !DAY.test(field.value));
      const isHeld = isDay && isPart;
      const before = day.current?.field === field ? day.current : undefined;
      // Replace the history entry, so that "back" returns to the URL before typing began.
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

/** Returns the query changes for the fields' texts. Typed days replace a named range. */
function changesOf(fields: FilterFields, texts: readonly string[]) {
  const typed = Object.entries(fields).map(([name, { of }], i) => ({ name, of, text: texts[i] }));
  const hasDays = typed.some(({ of, text }) => of === "day" && text);
  const changes = Object.fromEntries(typed.map(({ name, text }) => [name, text]));
  return { ...changes, ...(hasDays && { [SPAN]: undefined }), ...FIRST_PAGE };
}

/** Tracks the fields' contents. `round` counts changes made outside the fields. */
function useFieldTexts(text: string): { text: string; readonly round: number } {
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
 * Converts an inclusive day range, such as from `2026-12-01`, to a request's exclusive bounds. A
 * bound is `undefined` without a day.
 *
 * @param timeZone IANA name; defaults to the browser's zone
 */
export function boundsOfDays(first: string | undefined, last: string | undefined, timeZone: string | undefined) {
  // Bounds are exclusive, and the first millisecond of a day belongs to it.
  const startOf = (day: string | undefined, ms: number): Timestamp | undefined => {
    const start = day === undefined ? undefined : instantOf(day, "00:00", timeZone);
    return start && timestampFromDate(new Date(start.getTime() + ms));
  };
  return {
    createdAfter: startOf(first, -1),
    createdBefore: startOf(last && addDays(last, 1), 0),
  };
}
