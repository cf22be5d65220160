import type { TariffSchedule, TariffSchedules } from "../../../gen/shipments/admin/v1/tariff_pb.js";
import { fieldError } from "../api/problem.ts";
import { decimalOf } from "../ui/format.ts";
import { zoneText } from "../ui/local-time.ts";
import { DAYS } from "./schedule-words.ts";

interface Row {
  readonly key: number;
  /** Path in the stored draft, such as `schedules[0].hours[2]`. A unique value if unsaved. */
  readonly path: string;
}

export interface HoursText extends Row {
  readonly opens: string;
  readonly closes: string;
  readonly fee: string;
}

export interface ExceptionText extends Row {
  readonly date: string;
  /** Hours of the date. Empty if closed. */
  readonly hours: readonly HoursText[];
  readonly note: string;
  /** Capacity of each slot on the date. Blank if as on other dates. */
  readonly capacity: string;
}

export interface CutOffText extends Row {
  readonly days: readonly string[];
  readonly from: string;
  readonly until: string;
  readonly days_before: string;
  readonly at: string;
}

export interface ScheduleText extends Row {
  readonly name: string;
  /** Time zone as people read it, such as `America/New York`. */
  readonly time_zone: string;
  /** Hours by weekday, with Monday first. */
  readonly week: readonly (readonly HoursText[])[];
  readonly exceptions: readonly ExceptionText[];
  readonly lead_time_minutes: string;
  readonly horizon_days: string;
  /** Slot length. Blank if windows can be chosen freely. */
  readonly slot_minutes: string;
  /** Capacity of each slot. Blank if unlimited. */
  readonly capacity: string;
  readonly capacity_unit: string;
  readonly pay_within_minutes: string;
  readonly attention_above: string;
  readonly cut_offs: readonly CutOffText[];
  readonly as_soon_as_possible: boolean;
}

export interface SchedulesText {
  readonly schedules: readonly ScheduleText[];
  readonly default_schedule: string;
}

let lastKey = 0;

function newRow(): Row {
  const key = ++lastKey;
  return { key, path: `new-${key}` };
}

function storedRow(path: string): Row {
  return { key: ++lastKey, path };
}

export function newHours(after?: HoursText): HoursText {
  return { ...newRow(), opens: after?.closes ?? "08:00", closes: after ? "" : "18:00", fee: "" };
}

export function copyOfHours(hours: readonly HoursText[]): readonly HoursText[] {
  return hours.map((row) => ({ ...row, ...newRow() }));
}

export function newException(): ExceptionText {
  return { ...newRow(), date: "", note: "", hours: [], capacity: "" };
}

export function newCutOff(): CutOffText {
  return { ...newRow(), days: [], from: "", until: "", days_before: "1", at: "17:00" };
}

/** Returns a new schedule for weekdays in the browser's time zone. */
export function newSchedule(name: string): ScheduleText {
  return {
    ...newRow(),
    name,
    time_zone: zoneText(Intl.DateTimeFormat().resolvedOptions().timeZone),
    week: DAYS.map((_, day) => (day < 5 ? [newHours()] : [])),
    exceptions: [],
    lead_time_minutes: "60",
    horizon_days: "30",
    slot_minutes: "60",
    capacity: "",
    capacity_unit: "shipments",
    pay_within_minutes: "",
    attention_above: "",
    cut_offs: [],
    as_soon_as_possible: true,
  };
}

export function textOfSchedules({ schedules, defaultSchedule }: TariffSchedules): SchedulesText {
  return {
    schedules: schedules.map((schedule, i) => textOfSchedule(schedule, `schedules[${i}]`)),
    default_schedule: defaultSchedule,
  };
}

function textOfSchedule(schedule: TariffSchedule, path: string): ScheduleText {
  return {
    ...storedRow(path),
    name: schedule.name,
    time_zone: zoneText(schedule.timeZone),
    week: DAYS.map(([day]) =>
      schedule.hours.flatMap(({ days, opens, closes, fee }, i) =>
        days.includes(day) ? [{ ...storedRow(`${path}.hours[${i}]`), opens, closes, fee }] : [],
      ),
    ),
    exceptions: schedule.exceptions.map(({ date, hours, note, capacity }, i) => {
      const own = `${path}.exceptions[${i}]`;
      const rows = hours.map(({ opens, closes, fee }, at) => {
        return { ...storedRow(`${own}.hours[${at}]`), opens, closes, fee };
      });
      return { ...storedRow(own), date, note, hours: rows, capacity: String(capacity ?? "") };
    }),
    lead_time_minutes: String(schedule.leadTimeMinutes ?? 0),
    horizon_days: String(schedule.horizonDays ?? ""),
    slot_minutes: String(schedule.slotMinutes ?? ""),
    capacity: String(schedule.capacity ?? ""),
    capacity_unit: schedule.capacityUnit || "shipments",
    pay_within_minutes: String(schedule.payWithinMinutes ?? ""),
    attention_above: String(schedule.attentionAbove ?? ""),
    cut_offs: schedule.cutOffs.map(({ days, from, until, daysBefore, at }, i) => {
      const days_before = String(daysBefore ?? 0);
      return { ...storedRow(`${path}.cut_offs[${i}]`), days, from, until, days_before, at };
    }),
    as_soon_as_possible: schedule.asSoonAsPossible ?? true,
  };
}

/**
 * Converts typed schedules to a request. Equal hours on several days become one entry.
 *
 * @throws ConnectError about a field that is not an integer
 */
export function schedulesOfText({ schedules, default_schedule }: SchedulesText) {
  return {
    defaultSchedule: default_schedule,
    schedules: schedules.map((schedule) => ({
      name: schedule.name.trim(),
      timeZone: schedule.time_zone.trim().replaceAll(" ", "_"),
      hours: weeklyHours(schedule.week),
      exceptions: schedule.exceptions
        .map((exception) => ({
          date: exception.date,
          note: exception.note.trim(),
          hours: exception.hours.map(hoursOf),
          capacity: wholeOf(exception, "capacity"),
        }))
        .toSorted((a, b) => (a.date < b.date ? -1 : 1)),
      leadTimeMinutes: wholeOf(schedule, "lead_time_minutes"),
      horizonDays: wholeOf(schedule, "horizon_days"),
      slotMinutes: wholeOf(schedule, "slot_minutes"),
      capacity: wholeOf(schedule, "capacity"),
      capacityUnit: schedule.capacity_unit === "shipments" ? "" : schedule.capacity_unit,
      payWithinMinutes: wholeOf(schedule, "pay_within_minutes"),
      attentionAbove: wholeOf(schedule, "attention_above"),
      cutOffs: schedule.cut_offs.map((cutOff) => ({
        days: [...cutOff.days],
        from: cutOff.from,
        until: cutOff.until,
        daysBefore: wholeOf(cutOff, "days_before"),
        at: cutOff.at,
      })),
      asSoonAsPossible: schedule.as_soon_as_possible,
    })),
  };
}

function hoursOf({ opens, closes, fee }: HoursText) {
  return { opens, closes, fee: decimalOf(fee) };
}

export function weeklyHours(week: ScheduleText["week"]) {
  const all = week.flatMap((rows, day) => rows.map((row) => ({ day: DAYS[day]![0], hours: hoursOf(row) })));
  return [...Map.groupBy(all, ({ hours }) => JSON.stringify(hours)).values()].map((same) => ({
    ...same[0]!.hours,
    days: same.map(({ day }) => day),
  }));
}

/** Parses an integer field. `undefined` if empty. */
function wholeOf<Name extends string>(row: Row & Readonly<Record<Name, string>>, name: Name): number | undefined {
  const text = row[name].trim();
  if (text === "") return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw fieldError(`${row.path}.${name}`, `Must be a whole number, not “${text}”.`);
}
