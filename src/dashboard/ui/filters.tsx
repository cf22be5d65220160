import { timestampFromDate, type Timestamp } from "@bufbuild/protobuf/wkt";
import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { changeQuery, usePlace } from "../routes/router.ts";
import { Button } from "./button.tsx";
import { SelectField, TextField, textOf, type Choices } from "./fields.tsx";
import { recordIdOf } from "./format.ts";
import { FIRST_PAGE } from "./pager.tsx";
import "./filters.css";

export interface Filter {
  readonly label: string;
  /** Of any text by default: a day as `2026-11-01`, the number of a record, or one of `choices`. */
  readonly of?: "day" | "number";
  /** Values and what they are called, besides any. */
  readonly choices?: Choices;
  readonly placeholder?: string;
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

/** A day as `2026-11-01`, if the calendar has it. */
const DAY = /^2\d{3}-\d\d-\d\d$/;

/** The value of a filter that the address gives; a choice by what the API calls it too. */
function valueOf({ of, choices }: Filter, value: string): string | undefined {
  if (of === "number") return recordIdOf(value) === undefined ? undefined : value;
  if (of === "day") {
    const ms = DAY.test(value) ? Date.parse(`${value}T00:00Z`) : NaN;
    const isDay = !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(value);
    return isDay ? value : undefined;
  }
  if (value === "" || choices === undefined) return value;
  const word = value.toLowerCase();
  const chosen = choices.find(
    ([choice, label]) => choice === value || label.toLowerCase().replaceAll(" ", "_") === word,
  );
  return chosen?.[0];
}

/** Says what of the address is left out, and what can be chosen. */
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
  const names = Object.keys(fields);
  const { query } = usePlace();
  const given = names.map((name) => query.get(name) ?? "");
  const values = filterValues(query, fields);
  const count = given.filter((text) => text !== "").length;
  const wrong = names.filter((name, i) => given[i] !== "" && values[name] === undefined);
  // On a narrow screen the fields are hidden until they are asked for.
  const [isOpen, setOpen] = useState(false);
  const shown = useShown(given.join("\n"));
  const ask = (texts: readonly string[]) =>
    changeQuery({ ...Object.fromEntries(names.map((name, i) => [name, texts[i]])), ...FIRST_PAGE });
  const apply = (form: HTMLFormElement) => {
    const data = new FormData(form);
    const typed = names.map((name) => textOf(data, name));
    if (typed.every((text, i) => text === given[i])) return;
    shown.text = typed.join("\n");
    ask(typed);
  };
  return (
    <>
      {/* Made anew when the address changes otherwise, such as by "back", to show what it says; not when
          a field changes it, which would take the focus away. */}
      <form
        key={shown.round}
        class="filters"
        role="search"
        aria-label="Filters"
        onChange={(event) => apply(event.currentTarget)}
        onSubmit={(event) => {
          event.preventDefault();
          apply(event.currentTarget);
        }}
      >
        <button
          type="button"
          class="button disclose"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          Filters{count > 0 && ` (${count})`}
        </button>
        {Object.entries(fields).map(([name, filter]) => filterField(name, filter, values[name]))}
        {count > 0 && (
          <Button quiet onClick={() => ask([])}>
            Clear
          </Button>
        )}
      </form>
      {wrong.length > 0 && (
        <div class="problem attention" role="status">
          {wrong.map((name) => (
            <p key={name}>{leftOut(fields[name]!, query.get(name)!)}</p>
          ))}
        </div>
      )}
    </>
  );
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
 * The bounds of a filter by days of the reader's own time zone, both included, for a request whose
 * bounds are exclusive. Days are as `2026-11-01`; a bound is undefined without one.
 */
export function boundsOfDays(
  first: string | undefined,
  last: string | undefined,
): { readonly createdAfter: Timestamp | undefined; readonly createdBefore: Timestamp | undefined } {
  // What was made in the first millisecond of a day belongs to it.
  return { createdAfter: dayStart(first, 0, -1), createdBefore: dayStart(last, 1, 0) };
}

/** When a day begins, or one some days later, moved by some milliseconds. */
function dayStart(day: string | undefined, daysLater: number, ms: number): Timestamp | undefined {
  const [year, month, date] = (day ?? "").split("-").map(Number);
  if (!year || !month || !date) return undefined;
  return timestampFromDate(new Date(new Date(year, month - 1, date + daysLater).getTime() + ms));
}
