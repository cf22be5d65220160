/** A schedule in a tariff document whose times are full or half hours. */
export interface NaiveSchedule {
  readonly name: string;
  readonly time_zone: string;
  readonly hours: readonly (NaiveHours & { readonly days: readonly string[] })[];
  readonly exceptions: readonly { readonly date: string; readonly hours: readonly NaiveHours[] }[];
  readonly lead_time_minutes: number;
  readonly horizon_days: number;
  readonly slot_minutes: number | null;
  readonly cut_offs: readonly {
    readonly days: readonly string[];
    readonly from: string;
    readonly until: string;
    readonly days_before: number;
    readonly at: string;
  }[];
  readonly as_soon_as_possible: boolean;
}

interface NaiveHours {
  readonly opens: string;
  readonly closes: string;
  readonly fee: string;
}

/** A delivery window, in milliseconds since the epoch. */
export interface NaiveWindow {
  readonly startMs: number;
  readonly endMs: number;
}

const HALF_HOUR_MS = 1_800_000;
const DAY_MS = 86_400_000;
const WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/**
 * Computes the fee of a window as a decimal by checking the local time every half hour. `undefined`
 * if the window cannot be booked.
 */
export function naiveWindowFee(
  end: "pickup" | "dropoff",
  schedule: NaiveSchedule | undefined,
  window: NaiveWindow | undefined,
  nowMs: number,
): string | undefined {
  if (window === undefined) {
    const isOffered = end === "dropoff" || schedule === undefined || schedule.as_soon_as_possible;
    return isOffered ? "0" : undefined;
  }
  if (schedule === undefined) return undefined;
  const durationMs = window.endMs - window.startMs;
  if (durationMs < 600_000 || durationMs > 25 * 3_600_000) return undefined;
  if (window.startMs < nowMs + schedule.lead_time_minutes * 60_000) return undefined;
  const [today, date] = [nowMs, window.startMs].map((ms) => wallClock(schedule, ms).date);
  if (Date.parse(date!) - Date.parse(today!) > schedule.horizon_days * DAY_MS) return undefined;
  if (cutOffs(schedule, window.startMs).some((cutOffMs) => cutOffMs < nowMs)) return undefined;
  return feeOfHours(schedule, window);
}

/** Opening hours of one date. */
interface OpenHours {
  readonly key: string;
  readonly fee: string;
}

function feeOfHours(schedule: NaiveSchedule, window: NaiveWindow): string | undefined {
  const times: number[] = [];
  for (let ms = window.startMs; ms < window.endMs; ms += HALF_HOUR_MS) times.push(ms);
  const open = times.map((ms) => openAt(schedule, ms));
  if (schedule.slot_minutes === null) {
    if (open.some((hours) => hours.length === 0)) return undefined;
    const fees = open.flat().map(({ fee }) => Number(fee));
    return String(Math.max(...fees));
  }
  const lengthMs = schedule.slot_minutes * 60_000;
  if (window.endMs - window.startMs !== lengthMs) return undefined;
  return open[0]!.find(({ key }) => {
    if (!open.every((hours) => hours.some((other) => other.key === key))) return false;
    let opensMs = window.startMs;
    const wasOpen = () => openAt(schedule, opensMs - HALF_HOUR_MS).some((it) => it.key === key);
    while (wasOpen()) opensMs -= HALF_HOUR_MS;
    return (window.startMs - opensMs) % lengthMs === 0;
  })?.fee;
}

function openAt(schedule: NaiveSchedule, ms: number): OpenHours[] {
  const { date, minute } = wallClock(schedule, ms);
  const yesterday = dateBefore(date, 1);
  const on = (day: string, minuteOfDay: number) =>
    hoursOf(schedule, day).flatMap(({ opens, closes, fee }, i) => {
      const [from, to] = [minutesOf(opens), minutesOf(closes)];
      const until = to <= from ? to + 1_440 : to;
      return from <= minuteOfDay && minuteOfDay < until ? [{ key: `${day} ${i}`, fee }] : [];
    });
  return [...on(date, minute), ...on(yesterday, minute + 1_440)];
}

function hoursOf({ hours, exceptions }: NaiveSchedule, date: string): readonly NaiveHours[] {
  const exception = exceptions.find((it) => it.date === date);
  return exception?.hours ?? hours.filter(({ days }) => days.includes(weekdayOf(date)));
}

function cutOffs(schedule: NaiveSchedule, startMs: number): number[] {
  const { date, minute } = wallClock(schedule, startMs);
  return schedule.cut_offs
    .filter(({ days }) => days.includes(weekdayOf(date)))
    .filter(({ from, until }) => minutesOf(from) <= minute && minute < minutesOf(until))
    .map(({ days_before, at }) => firstShowing(schedule, dateBefore(date, days_before), at));
}

/** Returns the first instant at which local clocks show a date and time. */
function firstShowing(schedule: NaiveSchedule, date: string, time: string): number {
  const inUtc = Date.parse(`${date}T${time}Z`);
  for (let ms = inUtc - DAY_MS; ms <= inUtc + DAY_MS; ms += HALF_HOUR_MS) {
    const shown = wallClock(schedule, ms);
    if (shown.date === date && shown.minute === minutesOf(time)) return ms;
  }
  throw new Error(`${date} ${time} does not exist in ${schedule.time_zone}`);
}

const clocks = new Map<string, Intl.DateTimeFormat>();
const shown = new Map<string, { readonly date: string; readonly minute: number }>();

function wallClock({ time_zone }: NaiveSchedule, ms: number) {
  const clock = clocks.getOrInsertComputed(
    time_zone,
    (timeZone) => new Intl.DateTimeFormat("sv", { timeZone, dateStyle: "short", timeStyle: "short" }),
  );
  return shown.getOrInsertComputed(`${time_zone} ${ms}`, () => {
    const [date = "", time = ""] = clock.format(ms).split(" ");
    return { date, minute: minutesOf(time) };
  });
}

function weekdayOf(date: string): string {
  return WEEKDAYS[new Date(`${date}T00:00Z`).getUTCDay()]!;
}

function dateBefore(date: string, days: number): string {
  return new Date(Date.parse(date) - days * DAY_MS).toISOString().slice(0, 10);
}

function minutesOf(time: string): number {
  const [hours, minutes] = time.split(":").map(Number);
  return hours! * 60 + minutes!;
}
