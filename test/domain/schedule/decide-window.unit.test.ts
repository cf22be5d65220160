import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { naiveWindowFee, type NaiveSchedule } from "../../support/naive-windows.ts";
import { calendarOf, EVERY_DAY } from "../../support/schedules.ts";
import { dayNumberOf } from "../../../src/domain/schedule/calendar.ts";
import { decideWindow } from "../../../src/domain/schedule/decide-window.ts";
import { listSlots, nextAvailable } from "../../../src/domain/schedule/slots.ts";

/** Current time: a Tuesday, 10:00 in Berlin. */
const NOW = Date.parse("2026-12-01T09:00Z");
const HALF_HOUR_MS = 1_800_000;

/** Parses a span in UTC, such as `2026-12-01T09:00/10:00`. */
function span(text: string) {
  const [start = "", end = ""] = text.split("/");
  const endText = end.includes("T") ? end : `${start.slice(0, 11)}${end}`;
  return { startMs: Date.parse(`${start}Z`), endMs: Date.parse(`${endText}Z`) };
}

const NIGHTS = {
  time_zone: "UTC",
  hours: [
    { days: ["fri"], opens: "22:00", closes: "02:00" },
    { days: ["tue"], opens: "08:00", closes: "12:00" },
    { days: ["tue"], opens: "12:00", closes: "18:00" },
  ],
};
const ALWAYS = { hours: [{ days: EVERY_DAY, opens: "00:00", closes: "00:00" }] };
const SLOTS = { time_zone: "UTC", slot_minutes: 90 };

test.each<[string, object, string, string]>([
  ["across adjacent hours", NIGHTS, "2026-12-01T11:00/13:00", ""],
  ["that extends into the next day", NIGHTS, "2026-12-04T23:00/2026-12-05T01:00", ""],
  ["in the next morning", NIGHTS, "2026-12-05T01:00/02:00", ""],
  ["that extends beyond the hours", NIGHTS, "2026-12-05T01:00/03:00", "OUTSIDE_HOURS"],
  ["of nine minutes", NIGHTS, "2026-12-01T10:00/10:09", "WINDOW_INVALID"],
  ["of ten minutes", NIGHTS, "2026-12-01T10:00/10:10", ""],
  ["that ends as it starts", NIGHTS, "2026-12-01T10:00/10:00", "WINDOW_INVALID"],
  ["longer than 25 hours", NIGHTS, "2026-12-01T10:00/2026-12-02T12:00", "WINDOW_INVALID"],
  ["of 25 hours, over two midnights", ALWAYS, "2026-12-02T22:30/2026-12-03T23:30", ""],
  ["in the past", NIGHTS, "2026-12-01T08:00/08:30", "TOO_SOON"],
  ["now", NIGHTS, "2026-12-01T09:00/09:30", ""],
  ["in the last century", NIGHTS, "1976-12-01T10:00/11:00", "OUTSIDE_HOURS TOO_SOON"],
  ["before 1970, with any hours", NIGHTS, "1969-12-31T23:00/23:30", "TOO_SOON"],
  ["before 1900", NIGHTS, "1899-12-01T10:00/11:00", "TOO_SOON"],
  ["on the first day", NIGHTS, "0001-01-01T00:00/10:00", "TOO_SOON"],
  ["of nine minutes before 1970", NIGHTS, "1926-12-01T10:00/10:09", "WINDOW_INVALID"],
  ["at the latest supported time", NIGHTS, "9999-12-31T22:00/23:00", "TOO_FAR_AHEAD"],
  ["a minute within the lead time", { lead_time_minutes: 120 }, "2026-12-01T10:59/11:59", "TOO_SOON"],
  ["exactly after the lead time", { lead_time_minutes: 120 }, "2026-12-01T11:00/12:00", ""],
  ["on the horizon's last local date", { ...ALWAYS, horizon_days: 1 }, "2026-12-02T22:30/22:59", ""],
  ["after the horizon", { ...ALWAYS, horizon_days: 1 }, "2026-12-02T23:00/23:30", "TOO_FAR_AHEAD"],
  ["that is a slot", SLOTS, "2026-12-02T09:30/11:00", ""],
  ["a minute longer than a slot", SLOTS, "2026-12-02T09:30/11:01", "WINDOW_INVALID"],
  ["not aligned with the slots", SLOTS, "2026-12-02T09:00/10:30", "WINDOW_INVALID"],
  // The day closes at 18:00, before a seventh slot could end.
  ["after the last slot", SLOTS, "2026-12-02T17:00/18:30", "OUTSIDE_HOURS"],
  [
    "with every violation",
    { lead_time_minutes: 30, cut_offs: [{ at: "06:00" }] },
    "2026-12-01T05:00/06:00",
    "OUTSIDE_HOURS CUT_OFF_PASSED TOO_SOON",
  ],
])("a window %s", (_, changes, text, reasons) => {
  const { violations } = decideWindow(calendarOf(changes), span(text), NOW);
  expect(violations.map(({ reason }) => reason).join(" ")).toBe(reasons);
});

// Morning windows must be booked by 17:00 the day before, which is 16:00 UTC. Afternoon windows
// must be booked by 11:00 on the same day.
const CUT_OFFS = [
  { days: ["tue", "wed"], until: "12:00", days_before: 1, at: "17:00" },
  { from: "12:00", at: "11:00" },
];

test.each<[string, object[], string | undefined, number?]>([
  ["2026-12-02T08:00/09:00", CUT_OFFS, "2026-12-01T16:00:00.000Z"],
  ["2026-12-02T08:00/09:00", CUT_OFFS, "2026-12-01T16:00:00.000Z", Date.parse("2026-12-01T16:00Z")],
  ["2026-12-02T10:59/11:59", CUT_OFFS, "2026-12-01T16:00:00.000Z"],
  ["2026-12-02T11:00/12:00", CUT_OFFS, "2026-12-02T10:00:00.000Z"],
  ["2026-12-03T08:00/09:00", CUT_OFFS, undefined],
  [
    "2026-12-03T08:00/09:00",
    [{ at: "08:00" }, { days: ["thu"], at: "08:00", days_before: 1 }],
    "2026-12-02T07:00:00.000Z",
  ],
])("a window at %s with %j can be booked until %s", (text, cut_offs, at, nowMs = NOW) => {
  const decide = (ms: number) => decideWindow(calendarOf({ cut_offs }), span(text), ms);
  const { cutOffAtMs, violations } = decide(nowMs);
  expect([cutOffAtMs, violations]).toEqual([at && Date.parse(at), []]);
  if (at === undefined) return;
  const passed = { reason: "CUT_OFF_PASSED", text: `had to be booked by ${at}` };
  expect(decide(Date.parse(at) + 1).violations).toContainEqual(passed);
});

const clock = fc.constantFrom("00:00", "06:30", "12:00", "17:30", "22:00", "23:30");
const fee = fc.constantFrom("0", "1.25", "2.50");
const someDays = fc.subarray(EVERY_DAY, { minLength: 3 });
const ZONES = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca", "Pacific/Apia"];
/** Days just before clock changes in these zones, and one day without a change. */
const STARTS = ["2026-10-02", "2026-10-23", "2026-10-30", "2027-03-12", "2027-03-26", "2026-12-01"];

// In these zones, no clock changes at 05:00 or later.
const morning = fc.record({ opens: fc.constant("06:30"), closes: fc.constant("12:00"), fee });
const evening = fc.record({
  opens: fc.constantFrom("12:00", "17:30"),
  closes: fc.constantFrom("22:00", "23:30", "00:00"),
  fee,
});
const onDays = <Hours extends object>(hours: fc.Arbitrary<Hours>) =>
  fc.tuple(someDays, hours).map(([days, each]) => ({ days, ...each }));

const schedules: fc.Arbitrary<NaiveSchedule> = fc.record({
  name: fc.constant("day"),
  time_zone: fc.constantFrom(...ZONES),
  hours: fc.tuple(onDays(morning), onDays(evening)),
  exceptions: fc.constantFrom(...STARTS).chain((date) =>
    fc
      .record({
        date: fc.constant(date),
        hours: fc.constantFrom([], [{ opens: "06:30", closes: "12:00", fee: "1.25" }]),
      })
      .map((one) => [one]),
  ),
  lead_time_minutes: fc.constantFrom(0, 45, 600),
  horizon_days: fc.integer({ min: 1, max: 6 }),
  slot_minutes: fc.constantFrom(null, null, 30, 60),
  cut_offs: fc.array(
    fc.record({
      days: someDays,
      from: fc.constantFrom("00:00", "09:00"),
      until: fc.constantFrom("12:00", "23:30"),
      days_before: fc.nat(2),
      at: clock,
    }),
    { maxLength: 2 },
  ),
  as_soon_as_possible: fc.boolean(),
});

test("the local clock determines whether a window can be booked and its fee, in all time zones and seasons", () => {
  const taken = { yes: 0, no: 0 };
  fc.assert(
    fc.property(
      schedules,
      fc.constantFrom(...STARTS),
      fc.nat(1_440),
      fc.nat(7 * 48),
      fc.constantFrom(1, 1, 2, 3, 8),
      (schedule, day, minute, from, length) => {
        const startMs = Date.parse(day) + from * HALF_HOUR_MS;
        const window = { startMs, endMs: startMs + length * HALF_HOUR_MS };
        const nowMs = Date.parse(day) + minute * 60_000;
        const { slot_minutes, ...rest } = schedule;
        const calendar = calendarOf({ ...rest, ...(slot_minutes && { slot_minutes }) });
        const { violations, feeMinor } = decideWindow(calendar, window, nowMs);
        const expected = naiveWindowFee("pickup", schedule, window, nowMs);
        taken[expected === undefined ? "no" : "yes"]++;
        expect(violations.length === 0 ? feeMinor : undefined).toBe(
          expected === undefined ? undefined : Math.round(Number(expected) * 100),
        );
      },
    ),
    { numRuns: 1_000 },
  );
  expect(Math.min(taken.yes, taken.no)).toBeGreaterThan(25);
});

describe("free hours", () => {
  const listedAt = (time: string, hours: string, changes = {}) => {
    const nowMs = Date.parse(`2026-12-01T${time}Z`);
    const calendar = calendarOf({
      time_zone: "UTC",
      // Adjacent hours get different fees, so that they are not merged.
      hours: hours.split(" ").map((text, i) => {
        const [opens, closes] = text.split("/");
        return { days: EVERY_DAY, opens, closes, fee: `${i}` };
      }),
      ...changes,
    });
    const dates = { fromDay: dayNumberOf("2026-12-01"), days: 1 };
    return listSlots(calendar, dates, nowMs)
      .map(({ slot: { start, end }, decision: { violations } }) =>
        [`${start.slice(11, 16)}/${end.slice(11, 16)}`, ...violations.map(({ reason }) => reason)].join(" "),
      )
      .join(", ");
  };
  const TOUCHING = "08:00/12:00 12:00/18:00";
  const CUT_OFF = { cut_offs: [{ until: "11:55", at: "06:00" }] };

  test.each<[string, string, object, string]>([
    ["11:50", TOUCHING, {}, "11:50/12:00, 12:00/18:00"],
    ["11:51", TOUCHING, {}, "08:00/12:00 TOO_SOON, 12:00/18:00"],
    ["11:55", TOUCHING, {}, "08:00/12:00 TOO_SOON, 12:00/18:00"],
    ["07:00", TOUCHING, CUT_OFF, "08:00/12:00 CUT_OFF_PASSED, 12:00/18:00"],
    ["07:00", "08:00/08:09 08:09/12:00 13:00/13:10", {}, "08:09/12:00, 13:00/13:10"],
    ["09:00", "08:00/18:00", { lead_time_minutes: 31 }, "09:31/18:00"],
  ])(
    "at %s, with hours %s and %j, are listed from the earliest bookable minute: %s",
    (time, hours, changes, listed) => {
      expect(listedAt(time, hours, changes)).toBe(listed);
    },
  );
});

describe("if hours of an exception extend into those of the next date", () => {
  const overlapping = (opens: string, closes: string) =>
    calendarOf({
      time_zone: "UTC",
      slot_minutes: 60,
      hours: [{ days: EVERY_DAY, opens: "07:30", closes: "10:30" }],
      exceptions: [{ date: "2026-12-03", hours: [{ opens, closes }] }],
    });
  test("each slot is listed once, in order", () => {
    const dates = { fromDay: dayNumberOf("2026-12-04"), days: 1 };
    const listed = listSlots(overlapping("22:30", "09:30"), dates, NOW);
    expect(listed.map(({ slot }) => slot.localStart.slice(11, 16))).toEqual(
      Array.from({ length: 10 }, (_, hour) => `0${hour}:30`),
    );
  });
  test("a slot of both has the capacity of the later date, as in a booking", () => {
    const calendar = calendarOf({
      time_zone: "UTC",
      slot_minutes: 60,
      capacity: 1,
      hours: [{ days: EVERY_DAY, opens: "00:00", closes: "02:00" }],
      exceptions: [{ date: "2026-12-03", capacity: 5, hours: [{ opens: "23:00", closes: "01:00" }] }],
    });
    const listed = listSlots(calendar, { fromDay: dayNumberOf("2026-12-03"), days: 2 }, NOW);
    expect(listed.map(({ slot }) => slot.capacity)).toEqual([5, 1, 1]);
    expect(listed.map(({ decision }) => decision.capacity)).toEqual([5, 1, 1]);
    const free = nextAvailable(calendar, span("2026-12-04T00:00/01:00"), NOW, ({ capacity }) => capacity === 5);
    expect(free).toEqual(span("2026-12-03T23:00/24:00"));
  });
  test("the next slot is the earlier of both", () => {
    const next = nextAvailable(overlapping("22:00", "09:00"), span("2026-12-04T07:10/08:10"), NOW);
    expect(next).toEqual(span("2026-12-04T07:30/08:30"));
  });
});

test.each<[string, object, string, string | undefined]>([
  ["the next slot", { slot_minutes: 120 }, "2026-12-02T09:00/10:00", "2026-12-02T10:00/12:00"],
  ["as long as requested", {}, "2026-12-02T17:30/19:30", "2026-12-03T08:00/10:00"],
  ["after the lead time", { lead_time_minutes: 95 }, "2026-12-01T09:00/10:00", "2026-12-01T10:35/11:35"],
  [
    "at the end of a passed cut-off",
    { cut_offs: [{ until: "15:00", at: "07:00" }] },
    "2026-12-01T09:30/10:30",
    "2026-12-01T15:00/16:00",
  ],
  ["the first one if none is later", { horizon_days: 2 }, "2027-05-01T10:00/11:00", "2026-12-01T09:00/10:00"],
  ["none if everything is closed", { hours: [] }, "2026-12-02T09:00/10:00", undefined],
])("the next bookable window is %s", (_, changes, text, next) => {
  const calendar = calendarOf({ time_zone: "UTC", ...changes });
  expect(nextAvailable(calendar, span(text), NOW)).toEqual(next && span(next));
});

test("windows listed as available or next can be booked, and the next slot is the first available one", () => {
  fc.assert(
    fc.property(
      schedules,
      fc.constantFrom(undefined, 30, 45, 60, 240),
      fc.nat(2 * 366 * 24 * 60),
      (schedule, slot_minutes, nowMinute) => {
        const calendar = calendarOf({
          ...schedule,
          slot_minutes,
          exceptions: [],
          horizon_days: 30,
        });
        const nowMs = Date.UTC(2026, 0, 1) + nowMinute * 60_000;
        const fromDay = calendar.dayOf(nowMs).number;
        const available = listSlots(calendar, { fromDay, days: 14 }, nowMs).filter(
          ({ decision }) => decision.violations.length === 0,
        );
        for (const { slot } of available) {
          expect(decideWindow(calendar, slot, nowMs).violations).toEqual([]);
        }
        const next = nextAvailable(calendar, { startMs: nowMs, endMs: nowMs + 600_000 }, nowMs)!;
        expect(decideWindow(calendar, next, nowMs).violations).toEqual([]);
        if (slot_minutes !== undefined) expect(next.startMs).toBe(available[0]?.slot.startMs);
      },
    ),
    { numRuns: 100 },
  );
});
