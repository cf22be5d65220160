import { hasAtMost } from "../clip.ts";
import { isObject, quoted, type TariffFaults } from "../faults.ts";
import { isTimeZone } from "../time-zone.ts";
import {
  CAPACITY_UNITS,
  DAYS,
  DEFAULT_HORIZON_DAYS,
  MAX_CAPACITY,
  MAX_CUT_OFFS,
  MAX_EXCEPTIONS,
  MAX_HORIZON_DAYS,
  MAX_HOURS_OF_DATE,
  MAX_SCHEDULES,
  MAX_SCHEDULES_CHARACTERS,
  MAX_WEEKLY_HOURS,
  MAX_SLOT_MINUTES,
  MIN_WINDOW_MINUTES,
  PAY_WITHIN_MINUTES,
  type CapacityUnit,
  type CutOff,
  type Hours,
  type Schedule,
  type Scheduling,
  type SlotCapacity,
} from "./schedule.ts";

type Json = Readonly<Record<string, unknown>>;

interface Reader {
  readonly faults: TariffFaults;
  /** Parses a fee into minor units. If it is invalid, adds an error and returns 0. */
  parseFee(value: unknown, path: string): number;
}

/** A value of the document, with its path such as `schedules[1].hours[0].closes`. */
interface Part extends Reader {
  readonly value: unknown;
  readonly path: string;
}

interface ObjectPart extends Part {
  readonly value: Json;
}

function fieldOf(part: ObjectPart, name: string): Part {
  return { ...part, value: part.value[name], path: `${part.path}.${name}` };
}

/** Adds an error about a value and returns the value to use instead. */
function addFault<T>({ value, path, faults }: Part, text: string, replacement: T): T {
  faults.add(path, `${text}; it is ${quoted(value)}`);
  return replacement;
}

/**
 * Parses `schedules` and `default_schedule` of a tariff document and assigns the schedules to zones
 * by `properties.schedule`. Adds every error, with a path such as `schedules[1].hours[0].closes`.
 * Returns `undefined` if the document has no schedules, and then ignores `properties.schedule`.
 */
export function parseSchedules(document: Json, reader: Reader): Scheduling | undefined {
  const { schedules: listed, default_schedule } = document;
  if (isLeftOut(listed) && isLeftOut(default_schedule)) return undefined;
  if (JSON.stringify(listed ?? []).length > MAX_SCHEDULES_CHARACTERS) {
    const text = `must be at most ${MAX_SCHEDULES_CHARACTERS} characters of JSON; remove past dates`;
    reader.faults.add("schedules", text);
    return undefined;
  }
  const schedules = parseList({ ...reader, value: listed, path: "schedules" }, MAX_SCHEDULES, parseSchedule);
  const indexes = indexesByName(schedules, reader.faults);
  const ofDefault = indexOfNamed({ ...reader, value: default_schedule, path: "default_schedule" }, indexes);
  const ofZone = featuresOf(document.zones).map((feature, i) => {
    const properties = isObject(feature) && isObject(feature.properties) ? feature.properties : {};
    const named = { ...reader, value: properties.schedule, path: `zones[${i}].properties.schedule` };
    return indexOfNamed(named, indexes) ?? ofDefault ?? -1;
  });
  return schedules.length === 0 ? undefined : { schedules, ofZone: Int8Array.from(ofZone) };
}

/** Whether a value is absent. HTML forms send `null` or an empty text for an absent value. */
function isLeftOut(value: unknown): boolean {
  return value === undefined || value === null || value === "";
}

function featuresOf(zones: unknown): readonly unknown[] {
  return isObject(zones) && Array.isArray(zones.features) ? zones.features : [];
}

function indexesByName(schedules: readonly Schedule[], faults: TariffFaults): ReadonlyMap<string, number> {
  const indexes = new Map<string, number>();
  for (const [i, { name }] of schedules.entries()) {
    const other = indexes.get(name);
    if (other === undefined) indexes.set(name, i);
    else if (name !== "") {
      faults.add(
        `schedules[${i}].name`,
        `must differ from that of every other schedule; schedules[${other}] has ${quoted(name)} too`,
      );
    }
  }
  return indexes;
}

/**
 * Returns the index of the schedule that a field names. Returns `undefined` for an empty field, or
 * after adding an error for an unknown name.
 */
function indexOfNamed(part: Part, indexes: ReadonlyMap<string, number>): number | undefined {
  const { value } = part;
  if (isLeftOut(value)) return undefined;
  const index = typeof value === "string" ? indexes.get(value) : undefined;
  return index ?? addFault(part, "must be the name of one of the schedules", undefined);
}

/** Parses a list of up to `max` objects. A missing list counts as empty. */
function parseList<Item>(part: Part, max: number, parseItem: (item: ObjectPart) => Item): Item[] {
  const { value, path, faults } = part;
  if (isLeftOut(value)) return [];
  if (!Array.isArray(value) || value.length > max) {
    const size = Array.isArray(value) ? `has ${value.length}` : `is ${quoted(value)}`;
    faults.add(path, `must be a list of at most ${max}; it ${size}`);
    return [];
  }
  return value.flatMap((item: unknown, i) => {
    const itemPart = { ...part, value: item, path: `${path}[${i}]` };
    return isObject(item) ? [parseItem({ ...itemPart, value: item })] : addFault(itemPart, "must be an object", []);
  });
}

function parseSchedule(schedule: ObjectPart): Schedule {
  const field = (name: string) => fieldOf(schedule, name);
  return {
    name: parseName(field("name")),
    timeZone: parseTimeZone(field("time_zone")),
    week: parseWeek(field("hours")),
    exceptions: parseExceptions(field("exceptions")),
    leadTimeMinutes: parseWhole(field("lead_time_minutes"), [0, 43_200], 0),
    horizonDays: parseWhole(field("horizon_days"), [1, MAX_HORIZON_DAYS], DEFAULT_HORIZON_DAYS),
    slotMinutes: parseOptional(field("slot_minutes"), [MIN_WINDOW_MINUTES, MAX_SLOT_MINUTES]),
    cutOffs: parseList(field("cut_offs"), MAX_CUT_OFFS, parseCutOff),
    asSoonAsPossible: parseFlag(field("as_soon_as_possible")),
    capacity: parseCapacity(schedule),
  };
}

/** Parses the capacity of the slots. Returns `undefined` if the schedule has none of its fields. */
function parseCapacity(schedule: ObjectPart): SlotCapacity | undefined {
  const { value, path, faults } = schedule;
  const parseOne = (part: Part) => parseOptional(part, [1, MAX_CAPACITY]);
  const perSlot = parseOne(fieldOf(schedule, "capacity"));
  const exceptions: readonly unknown[] = Array.isArray(value.exceptions) ? value.exceptions : [];
  const onDates = exceptions.flatMap((item, i) => {
    if (!isObject(item)) return [];
    const capacity = parseOne({ ...schedule, value: item.capacity, path: `${path}.exceptions[${i}].capacity` });
    return capacity === undefined ? [] : [[item.date as string, capacity] as const];
  });
  const payWithinMinutes = parseOptional(fieldOf(schedule, "pay_within_minutes"), PAY_WITHIN_MINUTES);
  const unit = parseCapacityUnit(fieldOf(schedule, "capacity_unit"));
  const attentionAbove = parseOne(fieldOf(schedule, "attention_above"));
  const parts = [perSlot, payWithinMinutes, unit, attentionAbove, onDates[0]];
  if (parts.every((part) => part === undefined)) return undefined;
  if (isLeftOut(value.slot_minutes)) {
    faults.add(`${path}.slot_minutes`, "must be set because the schedule limits or counts its slots");
  }
  return { perSlot, unit: unit ?? "shipments", onDates: Object.fromEntries(onDates), payWithinMinutes, attentionAbove };
}

function parseCapacityUnit(part: Part): CapacityUnit | undefined {
  if (isLeftOut(part.value)) return undefined;
  const unit = CAPACITY_UNITS.find((known) => known === part.value);
  return unit ?? addFault(part, `must be one of ${CAPACITY_UNITS.join(", ")}`, undefined);
}

const MAX_NAME_CHARACTERS = 100;

function parseName(part: Part): string {
  const { value } = part;
  const isName = typeof value === "string" && value.trim() !== "" && hasAtMost(value, MAX_NAME_CHARACTERS);
  return isName ? value : addFault(part, `must be text of 1 to ${MAX_NAME_CHARACTERS} characters`, "");
}

function parseTimeZone(part: Part): string {
  const { value } = part;
  if (typeof value === "string" && isTimeZone(value)) return value;
  return addFault(part, `must be the IANA name of a time zone, such as "Europe/Berlin"`, "UTC");
}

/**
 * Parses a whole number within bounds. If it is invalid, adds an error and returns the lower bound.
 *
 * @param whenNull value for a missing field or null
 */
function parseWhole(part: Part, [min, max]: readonly [number, number], whenNull?: number): number {
  const value = part.value ?? whenNull;
  const isWithin = Number.isInteger(value) && min <= Number(value) && Number(value) <= max;
  return isWithin ? (value as number) : addFault(part, `must be a whole number from ${min} to ${max}`, min);
}

function parseOptional(part: Part, bounds: readonly [number, number]): number | undefined {
  return isLeftOut(part.value) ? undefined : parseWhole(part, bounds);
}

function parseFlag(part: Part): boolean {
  const value = part.value ?? true;
  return typeof value === "boolean" ? value : addFault(part, "must be true or false", true);
}

type WeeklyHours = Hours & { readonly days: readonly boolean[] };

function parseWeek(part: Part): Hours[][] {
  const listed = parseList(part, MAX_WEEKLY_HOURS, (item): WeeklyHours => ({
    ...parseHours(item),
    days: parseDays(fieldOf(item, "days")),
  }));
  const week = DAYS.map((_, day) =>
    inOrder(listed.filter(({ days }) => days[day]).map(({ days: _days, ...hours }): Hours => hours)),
  );
  checkOverlaps(week, part);
  return week;
}

function inOrder(hours: readonly Hours[]): Hours[] {
  return hours.toSorted((a, b) => a.opensMinute - b.opensMinute);
}

const MINUTES_OF_DAY = 1_440;

/** Adds an error if opening hours overlap other hours of the same day, or hours that continue from the day before. */
function checkOverlaps(week: readonly (readonly Hours[])[], { path, faults }: Part) {
  for (const [day, hours] of week.entries()) {
    const before = week.at(day - 1)!.at(-1);
    let closes = before === undefined ? 0 : before.closesMinute - MINUTES_OF_DAY;
    for (const { opensMinute, closesMinute } of hours) {
      if (opensMinute < closes) {
        faults.add(
          path,
          `must not overlap; on ${DAYS[day]} some open at ${clock(opensMinute)} while others last until ${clock(closes)}`,
        );
        break;
      }
      closes = closesMinute;
    }
  }
}

function clock(minute: number): string {
  const ofDay = minute % MINUTES_OF_DAY;
  return [Math.floor(ofDay / 60), ofDay % 60].map((n) => String(n).padStart(2, "0")).join(":");
}

function parseExceptions(part: Part): Record<string, Hours[]> {
  const exceptions: Record<string, Hours[]> = {};
  parseList(part, MAX_EXCEPTIONS, (item) => {
    const datePart = fieldOf(item, "date");
    const { date } = item.value;
    if (typeof date !== "string" || !isDate(date)) {
      addFault(datePart, `must be a date such as "2026-12-25"`, undefined);
    } else if (date in exceptions) {
      item.faults.add(datePart.path, `must be listed once; ${date} is listed already; combine its hours`);
    } else {
      exceptions[date] = parseHoursOfDate(fieldOf(item, "hours"));
    }
    checkNote(fieldOf(item, "note"));
  });
  return exceptions;
}

function isDate(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

function parseHoursOfDate(part: Part): Hours[] {
  const hours = inOrder(parseList(part, MAX_HOURS_OF_DATE, parseHours));
  const overlaps = hours.some(({ opensMinute }, i) => opensMinute < (hours[i - 1]?.closesMinute ?? 0));
  if (overlaps) part.faults.add(part.path, "must not overlap");
  return hours;
}

function checkNote(part: Part): void {
  const { value } = part;
  if (isLeftOut(value) || (typeof value === "string" && hasAtMost(value, 200))) return;
  addFault(part, "must be text of at most 200 characters", undefined);
}

function parseHours(item: ObjectPart): Hours {
  const opensMinute = parseTime(fieldOf(item, "opens"));
  const closes = parseTime(fieldOf(item, "closes"));
  const { value: fee, path } = fieldOf(item, "fee");
  return {
    opensMinute,
    closesMinute: closes <= opensMinute ? closes + MINUTES_OF_DAY : closes,
    feeMinor: isLeftOut(fee) ? 0 : item.parseFee(fee, path),
  };
}

/**
 * Parses a local time into minutes since midnight. If it is invalid, adds an error and returns 0.
 *
 * @param whenLeftOut value for a missing field, null or an empty text
 */
function parseTime(part: Part, whenLeftOut?: number): number {
  const { value } = part;
  if (whenLeftOut !== undefined && isLeftOut(value)) return whenLeftOut;
  const match = typeof value === "string" ? /^([01]\d|2[0-3]):([0-5]\d)$/.exec(value) : null;
  if (match !== null) return Number(match[1]) * 60 + Number(match[2]);
  return addFault(part, `must be a time from "00:00" to "23:59"`, 0);
}

/** Parses a list of at least one weekday into a flag per weekday. */
function parseDays({ value, path, faults }: Part): boolean[] {
  const listed: readonly unknown[] = Array.isArray(value) ? value : [];
  const isList = listed.length > 0 && listed.every((day) => DAYS.some((known) => known === day));
  if (!isList) faults.add(path, `must be a list of days: ${DAYS.join(", ")}; it is ${daysText(value)}`);
  return DAYS.map((day) => listed.includes(day));
}

function daysText(value: unknown): string {
  if (!Array.isArray(value)) return quoted(value);
  return value.length === 0 ? "empty" : value.slice(0, 8).map(quoted).join(", ");
}

function parseCutOff(item: ObjectPart): CutOff {
  const fromMinute = parseTime(fieldOf(item, "from"), 0);
  const until = fieldOf(item, "until");
  const untilMinute = parseTime(until, MINUTES_OF_DAY);
  if (untilMinute <= fromMinute) {
    item.faults.add(until.path, `must be later than from, ${clock(fromMinute)}; omit it for the end of the day`);
  }
  return {
    days: isLeftOut(item.value.days) ? DAYS.map(() => true) : parseDays(fieldOf(item, "days")),
    fromMinute,
    untilMinute,
    daysBefore: parseWhole(fieldOf(item, "days_before"), [0, 30], 0),
    atMinute: parseTime(fieldOf(item, "at")),
  };
}
