import type { CutOff, DateHours, TariffSchedule, WeeklyHours } from "../../../gen/shipments/admin/v1/tariff_pb.js";
import { numberText } from "../ui/format.ts";
import { WEEKDAY_FORMAT, zoneText } from "../ui/local-time.ts";
import { dateFormat } from "../ui/intl.ts";

export const DAYS = [
  ["mon", "Monday"],
  ["tue", "Tuesday"],
  ["wed", "Wednesday"],
  ["thu", "Thursday"],
  ["fri", "Friday"],
  ["sat", "Saturday"],
  ["sun", "Sunday"],
] as const;

/** Whether the closing time is on the next day. */
export function isOvernight({ opens, closes }: Pick<DateHours, "opens" | "closes">): boolean {
  return opens !== "" && closes !== "" && closes <= opens;
}

/** Formats a day's hours: `18:00 to 01:00 the next day, 2.50 extra`. */
function hoursText(hours: Pick<DateHours, "opens" | "closes" | "fee">): string {
  const { opens, closes, fee } = hours;
  const extra = fee === "" || Number(fee) === 0 ? "" : `, ${fee} extra`;
  return `${opens || "?"} to ${closes || "?"}${isOvernight(hours) ? " the next day" : ""}${extra}`;
}

/** Formats weekdays in order: `Mon to Fri, Sun`. Three or more consecutive days become a range. */
export function daysText(days: readonly string[]): string {
  const chosen = DAYS.map(([day]) => days.includes(day));
  const texts: string[] = [];
  for (let i = 0; i < DAYS.length; i++) {
    if (!chosen[i]) continue;
    let last = i;
    while (chosen[last + 1]) last++;
    if (last - i >= 2) {
      texts.push(`${shortDay(i)} to ${shortDay(last)}`);
      i = last;
    } else {
      texts.push(shortDay(i));
    }
  }
  return texts.join(", ");
}

function shortDay(index: number): string {
  return DAYS[index]![1].slice(0, 3);
}

/** Formats a week's hours: `Mon to Fri 08:00 to 18:00`. Days with equal hours are grouped. */
export function weekTexts(hours: readonly Omit<WeeklyHours, "$typeName" | "$unknown">[]): readonly string[] {
  const byDay = DAYS.map(([day, name]) => ({
    day,
    name,
    text: hours
      .filter(({ days }) => days.includes(day))
      .toSorted((a, b) => (a.opens < b.opens ? -1 : 1))
      .map(hoursText)
      .join(" and "),
  }));
  const open = byDay.filter(({ text }) => text !== "");
  return [...Map.groupBy(open, ({ text }) => text)].map(
    ([text, days]) => `${daysText(days.map(({ day }) => day))} ${text}`,
  );
}

/** Formats an exception: `Closed (Christmas Day)`. */
export function exceptionText(exception: {
  readonly hours: readonly Pick<DateHours, "opens" | "closes" | "fee">[];
  readonly note: string;
  readonly capacity?: number | string | undefined;
}): string {
  const { hours, note, capacity } = exception;
  const limit = capacity === undefined || capacity === "" ? "" : `, capacity ${capacity}`;
  const text = hours.length === 0 ? "Closed" : hours.map(hoursText).join(" and ") + limit;
  return note === "" ? text : `${text} (${note})`;
}

/** Formats a tariff date: `Fri, Dec 25, 2026`. Invalid dates are returned unchanged. */
export function dateText(date: string): string {
  const instant = new Date(`${date}T00:00:00Z`);
  if (Number.isNaN(Number(instant))) return date || "No date";
  return dateFormat(undefined, { ...WEEKDAY_FORMAT, year: "numeric", timeZone: "UTC" }).format(instant);
}

/** Formats a cut-off: `Mon before 12:00: by 17:00, 3 days before`. */
export function cutOffText(cutOff: Omit<CutOff, "$typeName" | "days"> & { readonly days: readonly string[] }): string {
  const { days, from, until, daysBefore, at } = cutOff;
  const onDays = days.length === 0 ? "Every day" : daysText(days);
  const between =
    from && until ? ` from ${from} to ${until}` : from ? ` from ${from}` : until ? ` before ${until}` : "";
  return `${onDays}${between}: by ${at || "?"}, ${daysBeforeText(daysBefore ?? 0)}`;
}

function daysBeforeText(days: number): string {
  return days === 0 ? "the same day" : days === 1 ? "the day before" : `${days} days before`;
}

/** Formats a number of minutes: `1 hour 30 minutes`. */
function minutesText(minutes: number): string {
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
  return [counted(hours, "hour"), counted(rest, "minute")].join(" ").trim() || "none";
}

function counted(count: number, what: string): string {
  return count === 0 ? "" : `${numberText(count)} ${what}${count === 1 ? "" : "s"}`;
}

function scheduleText({ timeZone, hours }: TariffSchedule): string {
  const week = weekTexts(hours).join("; ");
  return `${zoneText(timeZone) || "no time zone"}, ${week || "always closed"}`;
}

/** Label and formatter of each schedule property that is compared as a whole. */
const PARTS: Readonly<Record<string, readonly [string, (of: TariffSchedule) => string]>> = {
  name: ["Name", ({ name }) => name],
  time_zone: ["Time zone", ({ timeZone }) => zoneText(timeZone)],
  hours: ["Weekly hours", ({ hours }) => weekTexts(hours).join("; ") || "Always closed"],
  lead_time_minutes: ["Lead time", ({ leadTimeMinutes }) => minutesText(leadTimeMinutes ?? 0)],
  horizon_days: ["Booked ahead", ({ horizonDays }) => `up to ${horizonDays ?? 30} days`],
  slot_minutes: ["Slots", ({ slotMinutes }) => slotsText(slotMinutes)],
  capacity: ["Capacity per slot", ({ capacity, capacityUnit }) => capacityText(capacity, capacityUnit)],
  capacity_unit: ["Unit of capacity", ({ capacityUnit }) => capacityUnit || "shipments"],
  pay_within_minutes: [
    "Time to pay",
    ({ payWithinMinutes }) => (payWithinMinutes === undefined ? "Unlimited" : minutesText(payWithinMinutes)),
  ],
  attention_above: [
    "Alert above",
    ({ attentionAbove, capacityUnit }) =>
      attentionAbove === undefined ? "No alert" : capacityText(attentionAbove, capacityUnit),
  ],
  cut_offs: ["Cut-offs", ({ cutOffs }) => cutOffs.map(cutOffText).join("; ") || "No cut-offs"],
  as_soon_as_possible: [
    "As soon as possible",
    ({ asSoonAsPossible }) => (asSoonAsPossible === false ? "Not offered" : "Offered"),
  ],
};

export function partsOf(schedule: TariffSchedule): readonly (readonly [string, string])[] {
  return Object.entries(PARTS)
    .filter(([name]) => name !== "name" && name !== "capacity_unit")
    .map(([, [label, textOf]]) => [label, textOf(schedule)]);
}

function slotsText(minutes: number | undefined): string {
  return minutes === undefined ? "Any time within the hours" : minutesText(minutes);
}

function capacityText(capacity: number | undefined, unit: string): string {
  return capacity === undefined ? "Unlimited" : `${numberText(capacity)} ${unit || "shipments"}`;
}

interface Schedules {
  readonly schedules: readonly TariffSchedule[];
  readonly defaultSchedule: string;
}

/** Describes the difference at a path such as `schedules[city].hours`. Returns unknown paths unchanged. */
export function differenceText(path: string, before: Schedules, after: Schedules) {
  if (path === "default_schedule") {
    const textOf = ({ defaultSchedule }: Schedules) => defaultSchedule || "No schedule";
    return { schedule: "Default schedule", part: "Name", before: textOf(before), after: textOf(after) };
  }
  const names = [...before.schedules, ...after.schedules].map(({ name }) => name);
  // Match known names, because a name can contain brackets.
  const name = names
    .filter((known) => path.startsWith(`schedules[${known}]`))
    .toSorted((a, b) => b.length - a.length)[0];
  const [one, other] = [before, after].map(({ schedules }) => schedules.find((schedule) => schedule.name === name));
  const part = path.slice(`schedules[${name}]`.length);
  return { schedule: name ?? path, part: partLabel(part), before: partText(one, part), after: partText(other, part) };
}

const EXCEPTION = /^\.exceptions\[(.*)\]$/;

/** Returns the label of a part of a schedule, such as `.hours`. */
export function partLabel(part: string): string {
  if (part === "") return "The whole schedule";
  if (part === ".exceptions") return "Exceptional dates";
  const date = EXCEPTION.exec(part)?.[1];
  return date === undefined ? (PARTS[part.slice(1)]?.[0] ?? part.slice(1)) : dateText(date);
}

function partText(schedule: TariffSchedule | undefined, part: string): string {
  if (schedule === undefined) return "—";
  if (part === "") return scheduleText(schedule);
  const date = EXCEPTION.exec(part)?.[1];
  if (date === undefined) return PARTS[part.slice(1)]?.[1](schedule) ?? "—";
  const exception = schedule.exceptions.find((other) => other.date === date);
  return exception === undefined ? "As in other weeks" : exceptionText(exception);
}
