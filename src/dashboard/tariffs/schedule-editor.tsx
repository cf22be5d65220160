import { useState } from "preact/hooks";
import { Button, IconButton } from "../ui/button.tsx";
import { CheckField, FieldGroup, SelectField, TextField } from "../ui/fields.tsx";
import { changedHint, fieldOf, isSameText } from "./draft-fields.ts";
import { useFormProblem } from "../ui/form.tsx";
import { zoneText } from "../ui/local-time.ts";
import {
  copyOfHours,
  type CutOffText,
  type ExceptionText,
  type HoursText,
  newCutOff,
  newException,
  newHours,
  type ScheduleText,
  weeklyHours,
} from "./schedule-fields.ts";
import { cutOffText, dateText, DAYS, daysText, exceptionText, isOvernight, weekTexts } from "./schedule-words.ts";

const MAX_EXCEPTIONS = 400;
const EXCEPTIONS_HINT = `Holidays and days with other hours, up to ${MAX_EXCEPTIONS}.`;
const MAX_HOURS = 10;
const MAX_CUT_OFFS = 20;

/** Element ID of the list of time zones, which all schedules share. */
const TIME_ZONES = "time-zones";

export function TimeZones() {
  return (
    <datalist id={TIME_ZONES}>
      {["UTC", ...Intl.supportedValuesOf("timeZone")].map((name) => (
        <option key={name} value={zoneText(name)} />
      ))}
    </datalist>
  );
}

interface Props {
  readonly schedule: ScheduleText;
  /** The schedule of this name in the tariff in force. `undefined` if there is none. */
  readonly inForce: ScheduleText | undefined;
  readonly change: (schedule: ScheduleText) => void;
}

export function ScheduleFields(props: Props) {
  const { schedule, inForce, change } = props;
  const { path } = schedule;
  const field = fieldOf(schedule, change, path, inForce);
  return (
    <div class="form">
      <div class="field-row">
        <TextField {...field("name")} label="Name" hint="The name that zones refer to." />
        <TextField
          label="Time zone"
          list={TIME_ZONES}
          placeholder="Europe/Berlin"
          hint="Type a city to find it."
          {...field("time_zone")}
        />
      </div>
      <Week {...props} />
      <Exceptions {...props} />
      <Slots {...props} />
      <div class="field-row">
        <TextField
          label="Lead time, minutes"
          numeric
          hint="Minimum notice before a time starts."
          {...field("lead_time_minutes")}
        />
        <TextField
          label="Days ahead"
          numeric
          optional
          hint="Maximum number of days ahead. Default: 30."
          {...field("horizon_days")}
        />
      </div>
      <CutOffs {...props} />
      <CheckField
        name={`${path}.as_soon_as_possible`}
        label="Offer pickups as soon as possible"
        hint={changedHint(inForce && offerOf(inForce), offerOf(schedule), "Otherwise a time must be chosen.")}
        checked={schedule.as_soon_as_possible}
        change={(as_soon_as_possible) => change({ ...schedule, as_soon_as_possible })}
      />
    </div>
  );
}

function offerOf({ as_soon_as_possible }: ScheduleText): string {
  return as_soon_as_possible ? "offered" : "not offered";
}

function textsOfWeek(week: ScheduleText["week"]): readonly string[] {
  const texts = weekTexts(weeklyHours(week));
  return texts.length > 0 ? texts : ["Always closed"];
}

/** A week's hours in words, such as `Mon to Fri 08:00 to 18:00`. */
export function WeekSummary({ week }: Pick<ScheduleText, "week">) {
  return (
    <ul class="week">
      {textsOfWeek(week).map((text) => (
        <li key={text}>{text}</li>
      ))}
    </ul>
  );
}

/** The week as a summary, or as fields once they are requested or have a fault. */
function Week(props: Props) {
  const { week, path } = props.schedule;
  const [isEdited, setEdited] = useState(false);
  const isWrong = Object.keys(useFormProblem()?.fields ?? {}).some((name) => name.startsWith(`${path}.hours`));
  if (!isEdited && !isWrong) {
    return (
      <div class="field" data-field={`${path}.hours`}>
        <span>Weekly hours</span>
        <WeekSummary week={week} />
        <p class="hint">{weekHint(props)}</p>
        <div class="row-buttons">
          <Button onClick={() => setEdited(true)}>Edit hours</Button>
        </div>
      </div>
    );
  }
  return <WeekFields {...props} />;
}

function weekHint({ schedule, inForce }: Props, hint?: string) {
  return changedHint(inForce && textsOfWeek(inForce.week).join("; "), textsOfWeek(schedule.week).join("; "), hint);
}

function WeekFields(props: Props) {
  const { schedule, change } = props;
  const { week } = schedule;
  const changeDay = (day: number, hours: readonly HoursText[]) => change({ ...schedule, week: week.with(day, hours) });
  const copyToWeekdays = () =>
    change({
      ...schedule,
      week: week.map((hours, day) => (day > 0 && day < 5 ? copyOfHours(week[0]!) : hours)),
    });
  return (
    <FieldGroup
      name={`${schedule.path}.hours`}
      label="Weekly hours"
      kind="rows"
      value={week}
      hint={weekHint(
        props,
        "Hours that close at or before their opening time end on the next day. The extra charge is added to the price of times in these hours.",
      )}
    >
      {DAYS.map(([, name], day) => (
        <div class="day" key={name} role="group" aria-label={name}>
          <span class="day-name">{name}</span>
          <div class="day-hours">
            <HoursRows hours={week[day]!} of={name} change={(hours) => changeDay(day, hours)} />
            <div class="row-buttons">
              {week[day]!.length === 0 && <span class="minor">Closed</span>}
              <Button
                quiet
                label={`Add hours on ${name}`}
                onClick={() => changeDay(day, [...week[day]!, newHours(week[day]!.at(-1))])}
              >
                Add hours
              </Button>
              {day === 0 && week[0]!.length > 0 && (
                <Button quiet onClick={copyToWeekdays}>
                  Same on all weekdays
                </Button>
              )}
              {day > 0 && week[day]!.length === 0 && week[day - 1]!.length > 0 && (
                <Button
                  quiet
                  label={`${name} as on ${DAYS[day - 1]![1]}`}
                  onClick={() => changeDay(day, copyOfHours(week[day - 1]!))}
                >
                  As on {DAYS[day - 1]![1]}
                </Button>
              )}
            </div>
          </div>
        </div>
      ))}
    </FieldGroup>
  );
}

function HoursRows(props: {
  readonly hours: readonly HoursText[];
  readonly of: string;
  readonly change: (hours: readonly HoursText[]) => void;
}) {
  const { hours, of, change } = props;
  return (
    <>
      {hours.map((row, i) => {
        const field = fieldOf(row, (next) => change(hours.with(i, next)), row.path);
        return (
          <div class="hours" key={row.key} role="group" aria-label={`Hours ${i + 1}`}>
            <TextField {...field("opens")} label="Opens" type="time" />
            <TextField {...field("closes")} label="Closes" type="time" hint={isOvernight(row) && "the next day"} />
            <TextField {...field("fee")} label="Extra charge" numeric placeholder="0.00" />
            <IconButton
              quiet
              titled
              sign="×"
              label={`Remove hours ${i + 1} of ${of}`}
              onClick={() => change(hours.toSpliced(i, 1))}
            />
          </div>
        );
      })}
    </>
  );
}

/** Editor for dates with special hours, sorted and grouped by year. */
function Exceptions({ schedule, inForce, change }: Props) {
  const { exceptions, path } = schedule;
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  const faulty = Object.keys(useFormProblem()?.fields ?? {});
  const today = new Date().toISOString().slice(0, 10);
  const past = exceptions.filter(({ date }) => date !== "" && date < today);
  const replace = (next: readonly ExceptionText[]) => change({ ...schedule, exceptions: next });
  const ordered = exceptions.toSorted((a, b) => (a.date || "~").localeCompare(b.date || "~"));
  const years = Map.groupBy(ordered, ({ date }) => date.slice(0, 4) || "No date yet");
  const add = () => {
    const added = newException();
    setOpen(new Set([...open, added.key]));
    replace([...exceptions, added]);
  };
  const isOpen = (row: ExceptionText) => open.has(row.key) || faulty.some((name) => name.startsWith(`${row.path}.`));
  return (
    <FieldGroup
      name={`${path}.exceptions`}
      label="Exceptional dates"
      kind="rows"
      value={exceptions}
      hint={changedHint(inForce && replacedText(inForce.exceptions, exceptions), "", EXCEPTIONS_HINT)}
    >
      {[...years].map(([year, rows]) => (
        <details
          class="year"
          key={year}
          open={rows.length <= 12 || rows.some((row) => isOpen(row)) || years.size === 1}
        >
          <summary>
            {year} ({rows.length})
          </summary>
          <ul class="dates">
            {rows.map((row) => (
              <Exception
                key={row.key}
                exception={row}
                isOpen={isOpen(row)}
                open={() => setOpen(new Set([...open, row.key]))}
                change={(next) => replace(exceptions.map((other) => (other.key === row.key ? next : other)))}
                remove={() => replace(exceptions.filter(({ key }) => key !== row.key))}
              />
            ))}
          </ul>
        </details>
      ))}
      <div class="row-buttons">
        {exceptions.length < MAX_EXCEPTIONS && <Button onClick={add}>Add date</Button>}
        {past.length > 0 && (
          <Button quiet onClick={() => replace(exceptions.filter((row) => !past.includes(row)))}>
            Remove {past.length === 1 ? "the past date" : `${past.length} past dates`}
          </Button>
        )}
      </div>
    </FieldGroup>
  );
}

const MAX_REPLACED = 5;

/** Lists the first dates in force that the draft changes or lacks. */
function replacedText(inForce: readonly ExceptionText[], exceptions: readonly ExceptionText[]): string {
  const replaced = inForce.filter((old) => !exceptions.some((row) => row.date === old.date && isSameText(row, old)));
  const texts = replaced.slice(0, MAX_REPLACED).map((old) => `${dateText(old.date)}: ${exceptionText(old)}`);
  if (replaced.length > MAX_REPLACED) texts.push(`${replaced.length - MAX_REPLACED} more`);
  return texts.join("; ");
}

interface ExceptionProps {
  readonly exception: ExceptionText;
  readonly change: (exception: ExceptionText) => void;
  readonly remove: () => void;
}

function Exception(props: ExceptionProps & { readonly isOpen: boolean; readonly open: () => void }) {
  const { exception, isOpen, open } = props;
  if (isOpen) {
    return (
      <li>
        <ExceptionFields {...props} />
      </li>
    );
  }
  const date = dateText(exception.date);
  return (
    <li>
      <span>{date}</span> <span>{exceptionText(exception)}</span>
      <Button quiet label={`Edit ${date}`} onClick={open}>
        Edit
      </Button>
    </li>
  );
}

function ExceptionFields({ exception, change, remove }: ExceptionProps) {
  const { path, hours } = exception;
  const field = fieldOf(exception, change, path);
  const name = exception.date === "" ? "the new date" : dateText(exception.date);
  return (
    <div class="exception" role="group" aria-label={name}>
      <div class="field-row">
        <TextField {...field("date")} label="Date" type="date" />
        <TextField {...field("note")} label="Note" optional placeholder="Christmas Day" />
        <TextField {...field("capacity")} label="Capacity of each slot" numeric optional />
      </div>
      <FieldGroup name={`${path}.hours`} label="Hours" kind="rows" value={hours}>
        <HoursRows hours={hours} of={name} change={(next) => change({ ...exception, hours: next })} />
        <div class="row-buttons">
          {hours.length === 0 && <span class="minor">Closed</span>}
          {hours.length < MAX_HOURS && (
            <Button
              quiet
              label={`${hours.length === 0 ? "Open at some hours" : "Add hours"} on ${name}`}
              onClick={() => change({ ...exception, hours: [...hours, newHours(hours.at(-1))] })}
            >
              {hours.length === 0 ? "Open at some hours" : "Add hours"}
            </Button>
          )}
          <Button quiet destructive label={`Remove date, ${name}`} onClick={remove}>
            Remove date
          </Button>
        </div>
      </FieldGroup>
    </div>
  );
}

const SLOTS = "Slots of equal length";
const FREE = "Any time within the hours";

function Slots({ schedule, inForce, change }: Props) {
  const { path, slot_minutes } = schedule;
  const [isFree, setFree] = useState(slot_minutes === "");
  const choose = (free: boolean) => {
    setFree(free);
    const limits = free
      ? { capacity: "", capacity_unit: "shipments", pay_within_minutes: "", attention_above: "" }
      : {};
    change({ ...schedule, slot_minutes: free ? "" : "60", ...limits });
  };
  const field = fieldOf(schedule, change, path, inForce);
  const modeOf = (minutes: string) => (minutes === "" ? FREE : SLOTS);
  return (
    <div class="field-row">
      <SelectField
        name={`${path}.times`}
        label="Bookable times"
        value={isFree ? FREE : SLOTS}
        choices={[SLOTS, FREE].map((mode) => [mode, mode])}
        hint={changedHint(inForce && modeOf(inForce.slot_minutes), isFree ? FREE : SLOTS)}
        onInput={(value) => choose(value === FREE)}
      />
      {!isFree && (
        <>
          <TextField {...field("slot_minutes")} label="Slot length, minutes" numeric />
          <TextField label="Capacity per slot" numeric optional hint="Default: unlimited." {...field("capacity")} />
          <SelectField
            {...field("capacity_unit")}
            label="Unit of capacity"
            choices={[
              ["shipments", "Shipments"],
              ["kilograms", "Kilograms"],
            ]}
          />
          <TextField
            label="Time to pay, minutes"
            numeric
            optional
            hint="Unpaid shipments in a limited slot are then cancelled."
            {...field("pay_within_minutes")}
          />
          <TextField
            label="Alert above"
            numeric
            optional
            hint="Slots without a capacity that exceed it need attention."
            {...field("attention_above")}
          />
        </>
      )}
    </div>
  );
}

function textOfCutOffs({ cut_offs }: ScheduleText): string {
  return cut_offs.map((row) => cutOffText({ ...row, daysBefore: Number(row.days_before) })).join("; ");
}

function CutOffs({ schedule, inForce, change }: Props) {
  const { cut_offs, path } = schedule;
  const replace = (next: readonly CutOffText[]) => change({ ...schedule, cut_offs: next });
  return (
    <FieldGroup
      name={`${path}.cut_offs`}
      label="Cut-offs"
      kind="rows"
      value={cut_offs}
      hint={changedHint(
        inForce && textOfCutOffs(inForce),
        textOfCutOffs(schedule),
        "Latest time to book. If several apply, the earliest counts.",
      )}
    >
      {cut_offs.map((row, i) => (
        <CutOff
          key={row.key}
          number={i + 1}
          cutOff={row}
          change={(next) => replace(cut_offs.with(i, next))}
          remove={() => replace(cut_offs.toSpliced(i, 1))}
        />
      ))}
      <div class="row-buttons">
        {cut_offs.length < MAX_CUT_OFFS && (
          <Button onClick={() => replace([...cut_offs, newCutOff()])}>Add cut-off</Button>
        )}
      </div>
    </FieldGroup>
  );
}

function CutOff(props: {
  readonly number: number;
  readonly cutOff: CutOffText;
  readonly change: (cutOff: CutOffText) => void;
  readonly remove: () => void;
}) {
  const { number, cutOff, change, remove } = props;
  const { path, days } = cutOff;
  const field = fieldOf(cutOff, change, path);
  return (
    <div class="exception" role="group" aria-label={`Cut-off ${number}`}>
      <FieldGroup
        name={`${path}.days`}
        label="For times on"
        kind="choices"
        value={days}
        hint={days.length === 0 ? "Every day" : daysText(days)}
      >
        {DAYS.map(([day, name]) => (
          <label key={day}>
            <input
              type="checkbox"
              name={`${path}.days`}
              checked={days.includes(day)}
              onChange={({ currentTarget }) =>
                change({
                  ...cutOff,
                  days: currentTarget.checked ? [...days, day] : days.filter((other) => other !== day),
                })
              }
            />
            {name}
          </label>
        ))}
      </FieldGroup>
      <div class="field-row">
        <TextField {...field("from")} label="That start from" type="time" optional />
        <TextField {...field("until")} label="And before" type="time" optional />
        <TextField {...field("days_before")} label="Book days before" numeric />
        <TextField {...field("at")} label="By" type="time" />
      </div>
      <div class="row-buttons">
        <Button quiet destructive label={`Remove cut-off ${number}`} onClick={remove}>
          Remove cut-off
        </Button>
      </div>
    </div>
  );
}
