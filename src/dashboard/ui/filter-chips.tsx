import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { changeQuery, useLocation } from "../routes/router.ts";
import { Button, IconButton } from "./button.tsx";
import { daysText, LinkChoice, QuickDays, spanLabel } from "./days.tsx";
import { type FilterFields, FilterForm, filterValues, LeftOut, SPAN } from "./filters.tsx";
import { Menu } from "./menu.tsx";
import { FIRST_PAGE } from "./pager.tsx";

interface Chip {
  readonly name: string;
  readonly label: string;
  readonly names: readonly string[];
}

/**
 * A list's filters as chips that can be added, changed and removed separately. Day filters share one chip.
 *
 * @param days label of the chip for days
 */
export function FilterChips(props: { readonly fields: FilterFields; readonly days: string }) {
  const { fields } = props;
  const { query } = useLocation();
  const [added, setAdded] = useState<string>();
  const chips = chipsOf(fields, props.days);
  const isSet = ({ names }: Chip) => names.some((name) => query.get(name));
  const shown = chips.filter((chip) => isSet(chip) || chip.name === added);
  const others = chips.filter((chip) => !shown.includes(chip));
  return (
    <>
      <div class="chips" role="group" aria-label="Filters">
        {shown.map((chip) => (
          <span key={chip.name} class="chip">
            <Menu
              label={<ChipText chip={chip} fields={fields} />}
              isOpen={chip.name === added}
              closed={() => setAdded(undefined)}
            >
              <Editor chip={chip} fields={fields} />
            </Menu>
            {isSet(chip) && (
              <IconButton quiet sign="×" label={`Remove filter ${chip.label}`} onClick={() => remove([chip])} />
            )}
          </span>
        ))}
        {others.length > 0 && (
          <Menu label="+ Filter" opensBy="f">
            {others.map(({ name, label }) => (
              <Button key={name} quiet onClick={() => setAdded(name)}>
                {label}
              </Button>
            ))}
          </Menu>
        )}
        {shown.filter(isSet).length > 1 && (
          <Button quiet onClick={() => remove(shown)}>
            Clear
          </Button>
        )}
      </div>
      <LeftOut fields={fields} />
    </>
  );
}

function remove(chips: readonly Chip[]): void {
  const names = chips.flatMap((chip) => chip.names);
  changeQuery({ ...Object.fromEntries(names.map((name) => [name, ""])), ...FIRST_PAGE });
}

function chipsOf(fields: FilterFields, days: string): readonly Chip[] {
  const names = Object.keys(fields);
  const ofDays = names.filter((name) => fields[name]!.of === "day");
  const others = names.filter((name) => !ofDays.includes(name));
  const chips = others.map((name) => ({ name, label: fields[name]!.label, names: [name] }));
  return [...chips, { name: SPAN, label: days, names: [SPAN, ...ofDays] }];
}

function ChipText({ chip, fields }: { readonly chip: Chip; readonly fields: FilterFields }) {
  const { query } = useLocation();
  const text = chip.name === SPAN ? spanText(chip, fields, query) : valueText(chip, fields, query);
  return (
    <>
      {chip.label}
      {text && ": "}
      {text}
    </>
  );
}

function valueText({ name }: Chip, fields: FilterFields, query: URLSearchParams): ComponentChildren {
  const { choices, Value } = fields[name]!;
  const value = filterValues(query, fields)[name];
  if (value === undefined) return query.get(name);
  if (Value !== undefined) return <Value value={value} />;
  return choices?.find(([choice]) => choice === value)?.[1] ?? value;
}

function spanText({ names }: Chip, fields: FilterFields, query: URLSearchParams) {
  const values = filterValues(query, fields);
  const [first = "", last = ""] = names.slice(1).map((name) => values[name]);
  return first || last ? daysText(first, last) : spanLabel(query);
}

function Editor({ chip, fields }: { readonly chip: Chip; readonly fields: FilterFields }) {
  const { query } = useLocation();
  const own = Object.fromEntries(Object.entries(fields).filter(([name]) => chip.names.includes(name)));
  if (chip.name === SPAN) {
    return (
      <>
        <QuickDays />
        <FilterForm fields={own} />
      </>
    );
  }
  const { name, label } = chip;
  const { choices, Finder } = fields[name]!;
  if (Finder !== undefined) {
    return <Finder choose={(value) => changeQuery({ [name]: value, ...FIRST_PAGE })} />;
  }
  if (choices === undefined) return <FilterForm fields={own} />;
  const current = filterValues(query, own)[name];
  return <LinkChoice {...{ name, label, choices, current }} />;
}
