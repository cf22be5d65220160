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
  const schedules = parseList(listed, "schedules", MAX_SCHEDULES, reader, parseSchedule);
  const indexes = indexesByName(schedules, reader.faults);
  const ofDefault = indexOfNamed(default_schedule, "default_schedule", indexes, reader.faults);
  const ofZone = featuresOf(document.zones).map((feature, i) => {
    const properties = isObject(feature) && isObject(feature.properties) ? feature.properties : {};
    const path = `zones[${i}].properties.schedule`;
    return indexOfNamed(properties.schedule, path, indexes, reader.faults) ?? ofDefault ?? -1;
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
function indexOfNamed(
  value: unknown,
  path: string,
  indexes: ReadonlyMap<string, number>,
  faults: TariffFaults,
): number | undefined {
  if (isLeftOut(value)) return undefined;
  const index = typeof value === "string" ? indexes.get(value) : undefined;
  if (index === undefined) {
    faults.add(path, `must be the name of one of the schedules; it is ${quoted(value)}`);
  }
  return index;
}

/** Parses a list of up to `most` objects. A missing list counts as empty. */
function parseList<Item>(
  value: unknown,
  path: string,
  max: number,
  reader: Reader,
  parseItem: (item: Json, path: string, reader: Reader) => Item,
): Item[] {
  if (isLeftOut(value)) return [];
  if (!Array.isArray(value) || value.length > max) {
    const size = Array.isArray(value) ? `has ${value.length}` : `is ${quoted(value)}`;
    reader.faults.add(path, `must be a list of at most ${max}; it ${size}`);
    return [];
  }
  return value.flatMap((item: unknown, i) => {
    if (isObject(item)) return [parseItem(item, `${path}[${i}]`, reader)];
    reader.faults.add(`${path}[${i}]`, `must be an object; it is ${quoted(item)}`);
    return [];
  });
}

function parseSchedule(value: Json, path: string, reader: Reader): Schedule {
  const { faults } = reader;
  return {
    name: parseName(value.name, `${path}.name`, faults),
    timeZone: parseTimeZone(value.time_zone, `${path}.time_zone`, faults),
    week: parseWeek(value.hours, `${path}.hours`, reader),
    exceptions: parseExceptions(value.exceptions, `${path}.exceptions`, reader),
    leadTimeMinutes: parseWhole(value.lead_time_minutes ?? 0, [0, 43_200], {
      path: `${path}.lead_time_minutes`,
      faults,
    }),
    horizonDays: parseWhole(value.horizon_days ?? DEFAULT_HORIZON_DAYS, [1, MAX_HORIZON_DAYS], {
      path: `${path}.horizon_days`,
      faults,
    }),
    slotMinutes: isLeftOut(value.slot_minutes)
      ? undefined
      : parseWhole(value.slot_minutes, [MIN_WINDOW_MINUTES, MAX_SLOT_MINUTES], {
          path: `${path}.slot_minutes`,
          faults,
        }),
    cutOffs: parseList(value.cut_offs, `${path}.cut_offs`, MAX_CUT_OFFS, reader, parseCutOff),
    asSoonAsPossible: parseFlag(value.as_soon_as_possible, `${path}.as_soon_as_possible`, faults),
    capacity: parseCapacity(value, path, faults),
  };
}

/** Parses the capacity of the slots. Returns `undefined` if the schedule has none of its fields. */
function parseCapacity(value: Json, path: string, faults: TariffFaults): SlotCapacity | undefined {
  const parseOptional = (number: unknown, field: string, bounds: readonly [number, number]) =>
    isLeftOut(number) ? undefined : parseWhole(number, bounds, { path: `${path}.${field}`, faults });
  const parseOne = (number: unknown, field: string) => parseOptional(number, field, [1, MAX_CAPACITY]);
  const perSlot = parseOne(value.capacity, "capacity");
  const exceptions: readonly unknown[] = Array.isArray(value.exceptions) ? value.exceptions : [];
  const onDates = exceptions.flatMap((item, i) => {
    const capacity = isObject(item) ? parseOne(item.capacity, `exceptions[${i}].capacity`) : undefined;
    return capacity === undefined ? [] : [[(item as Json).date as string, capacity] as const];
  });
  const payWithinMinutes = parseOptional(value.pay_within_minutes, "pay_within_minutes", PAY_WITHIN_MINUTES);
  const unit = parseCapacityUnit(value.capacity_unit, `${path}.capacity_unit`, faults);
  const attentionAbove = parseOne(value.attention_above, "attention_above");
  const parts = [perSlot, payWithinMinutes, unit, attentionAbove, onDates[0]];
  if (parts.every((part) => part === undefined)) return undefined;
  if (isLeftOut(value.slot_minutes)) {
    faults.add(`${path}.slot_minutes`, "must be set because the schedule limits or counts its slots");
  }
  return { perSlot, unit: unit ?? "shipments", onDates: Object.fromEntries(onDates), payWithinMinutes, attentionAbove };
}

function parseCapacityUnit(value: unknown, path: string, faults: TariffFaults): CapacityUnit | undefined {
  const unit = CAPACITY_UNITS.find((known) => known === value);
  if (unit === undefined && !isLeftOut(value)) {
    faults.add(path, `must be one of ${CAPACITY_UNITS.join(", ")}; it is ${quoted(value)}`);
  }
  return unit;
}

const MAX_NAME_CHARACTERS = 100;

function parseName(value: unknown, path: string, faults: TariffFaults): string {
  const isName = typeof value === "string" && value.trim() !== "" && hasAtMost(value, MAX_NAME_CHARACTERS);
  if (isName) return value;
  faults.add(path, `must be text of 1 to ${MAX_NAME_CHARACTERS} characters; it is ${quoted(value)}`);
  return "";
}

function parseTimeZone(value: unknown, path: string, faults: TariffFaults): string {
  if (typeof value === "string" && isTimeZone(value)) return value;
  faults.add(path, `must be the IANA name of a time zone, such as "Europe/Berlin"; it is ${quoted(value)}`);
  return "UTC";
}

/** Parses a whole number within bounds. If it is invalid, adds an error and returns the lower bound. */
function parseWhole(
  value: unknown,
  [min, max]: readonly [number, number],
  { path, faults }: { readonly path: string; readonly faults: TariffFaults },
): number {
  const isWithin = Number.isInteger(value) && min <= Number(value) && Number(value) <= max;
  if (isWithin) return value as number;
  faults.add(path, `must be a whole number from ${min} to ${max}; it is ${quoted(value)}`);
  return min;
}

function parseFlag(value: unknown, path: string, faults: TariffFaults): boolean {
  if (value === undefined || value === null) return true;
  if (typeof value === "boolean") return value;
  faults.add(path, `must be true or false; it is ${quoted(value)}`);
  return true;
}

type WeeklyHours = Hours & { readonly days: readonly boolean[] };

function parseWeek(value: unknown, path: string, reader: Reader): Hours[][] {
  const listed = parseList(value, path, MAX_WEEKLY_HOURS, reader, (item, itsPath): WeeklyHours => ({
    ...parseHours(item, itsPath, reader),
    days: parseDays(item.days, `${itsPath}.days`, reader.faults),
  }));
  const week = DAYS.map((_, day) =>
    inOrder(
      listed
        .filter(({ days }) => days[day])
        .map(({ opensMinute, closesMinute, feeMinor }) => ({
          opensMinute,
          closesMinute,
          feeMinor,
        })),
    ),
  );
  checkOverlaps(week, path, reader.faults);
  return week;
}

function inOrder(hours: readonly Hours[]): Hours[] {
  return hours.toSorted((a, b) => a.opensMinute - b.opensMinute);
}

const MINUTES_OF_DAY = 1_440;

/** Adds an error if opening hours overlap other hours of the same day, or hours that continue from the day before. */
function checkOverlaps(week: readonly (readonly Hours[])[], path: string, faults: TariffFaults) {
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

function parseExceptions(value: unknown, path: string, reader: Reader): Record<string, Hours[]> {
  const exceptions: Record<string, Hours[]> = {};
  parseList(value, path, MAX_EXCEPTIONS, reader, (item, itsPath) => {
    const { date } = item;
    if (typeof date !== "string" || !isDate(date)) {
      const text = `must be a date such as "2026-12-25"; it is ${quoted(date)}`;
      reader.faults.add(`${itsPath}.date`, text);
    } else if (date in exceptions) {
      const text = `must be listed once; ${date} is listed already; combine its hours`;
      reader.faults.add(`${itsPath}.date`, text);
    } else {
      exceptions[date] = parseHoursOfDate(item.hours, `${itsPath}.hours`, reader);
    }
    parseNote(item.note, `${itsPath}.note`, reader.faults);
  });
  return exceptions;
}

function isDate(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

function parseHoursOfDate(value: unknown, path: string, reader: Reader): Hours[] {
  const hours = inOrder(parseList(value, path, MAX_HOURS_OF_DATE, reader, parseHours));
  const overlaps = hours.some(({ opensMinute }, i) => opensMinute < (hours[i - 1]?.closesMinute ?? 0));
  if (overlaps) reader.faults.add(path, "must not overlap");
  return hours;
}

function parseNote(value: unknown, path: string, faults: TariffFaults): void {
  if (isLeftOut(value) || (typeof value === "string" && hasAtMost(value, 200))) return;
  faults.add(path, `must be text of at most 200 characters; it is ${quoted(value)}`);
}

function parseHours(value: Json, path: string, { faults, parseFee }: Reader): Hours {
  const opensMinute = parseTime(value.opens, `${path}.opens`, faults);
  const closes = parseTime(value.closes, `${path}.closes`, faults);
  return {
    opensMinute,
    closesMinute: closes <= opensMinute ? closes + MINUTES_OF_DAY : closes,
    feeMinor: isLeftOut(value.fee) ? 0 : parseFee(value.fee, `${path}.fee`),
  };
}

/** Parses a local time into minutes since midnight. If it is invalid, adds an error and returns 0. */
function parseTime(value: unknown, path: string, faults: TariffFaults): number {
  const match = typeof value === "string" ? /^([01]\d|2[0-3]):([0-5]\d)$/.exec(value) : null;
  if (match !== null) return Number(match[1]) * 60 + Number(match[2]);
  faults.add(path, `must be a time from "00:00" to "23:59"; it is ${quoted(value)}`);
  return 0;
}

/** Parses a list of at least one weekday into a flag per weekday. */
function parseDays(value: unknown, path: string, faults: TariffFaults): boolean[] {
  const listed: readonly unknown[] = Array.isArray(value) ? value : [];
  const isList = listed.length > 0 && listed.every((day) => DAYS.some((known) => known === day));
  if (!isList) {
    faults.add(path, `must be a list of days: ${DAYS.join(", ")}; it is ${daysText(value)}`);
  }
  return DAYS.map((day) => listed.includes(day));
}

function daysText(value: unknown): string {
  if (!Array.isArray(value)) return quoted(value);
  return value.length === 0 ? "empty" : value.slice(0, 8).map(quoted).join(", ");
}

function parseCutOff(value: Json, path: string, { faults }: Reader): CutOff {
  const fromMinute = isLeftOut(value.from) ? 0 : parseTime(value.from, `${path}.from`, faults);
  const untilMinute = isLeftOut(value.until) ? MINUTES_OF_DAY : parseTime(value.until, `${path}.until`, faults);
  if (untilMinute <= fromMinute) {
    const text = `must be later than from, ${clock(fromMinute)}; omit it for the end of the day`;
    faults.add(`${path}.until`, text);
  }
  return {
    days: isLeftOut(value.days) ? DAYS.map(() => true) : parseDays(value.days, `${path}.days`, faults),
    fromMinute,
    untilMinute,
    daysBefore: parseWhole(value.days_before ?? 0, [0, 30], {
      path: `${path}.days_before`,
      faults,
    }),
    atMinute: parseTime(value.at, `${path}.at`, faults),
  };
}
