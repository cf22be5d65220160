import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { calendarOf, EVERY_DAY } from "../../support/schedules.ts";
import { dayNumberOf } from "../../../src/domain/schedule/calendar.ts";
import { decideWindow } from "../../../src/domain/schedule/decide-window.ts";
import { listSlots, nextAvailable } from "../../../src/domain/schedule/slots.ts";

/** A Tuesday, when it is 10:00 in Berlin. */
const NOW = Date.parse("2026-12-01T09:00Z");

/** A span such as `2026-12-01T09:00/10:00`, in UTC. */
function span(text: string) {
  const [start = "", end = ""] = text.split("/");
  const endText = end.includes("T") ? end : `${start.slice(0, 11)}${end}`;
  return { startMs: Date.parse(`${start}Z`), endMs: Date.parse(`${endText}Z`) };
}

function reasonsOf(changes: object, text: string): string[] {
  return decideWindow(calendarOf(changes), span(text), NOW).faults.map(({ reason }) => reason);
}

describe("a free window", () => {
  const NIGHTS = {
    time_zone: "UTC",
    hours: [
      { days: ["fri"], opens: "22:00", closes: "02:00" },
      { days: ["tue"], opens: "08:00", closes: "12:00" },
      { days: ["tue"], opens: "12:00", closes: "18:00" },
    ],
  };
  test.each([
    ["in the hours", "2026-12-01T10:00/11:00", []],
    ["over hours that touch", "2026-12-01T11:00/13:00", []],
    ["as long as all of them", "2026-12-08T08:00/18:00", []],
    ["that lasts into the next day", "2026-12-04T23:00/2026-12-05T01:00", []],
    ["of the morning after", "2026-12-05T01:00/02:00", []],
    ["that lasts too long", "2026-12-05T01:00/03:00", ["OUTSIDE_HOURS"]],
    ["before the hours", "2026-12-04T21:00/23:00", ["OUTSIDE_HOURS"]],
    ["of another day", "2026-12-03T10:00/11:00", ["OUTSIDE_HOURS"]],
    ["of nine minutes", "2026-12-01T10:00/10:09", ["WINDOW_INVALID"]],
    ["of ten minutes", "2026-12-01T10:00/10:10", []],
    ["that ends as it starts", "2026-12-01T10:00/10:00", ["WINDOW_INVALID"]],
    ["longer than a day", "2026-12-01T10:00/2026-12-02T12:00", ["WINDOW_INVALID"]],
    ["in the past", "2026-12-01T08:00/08:30", ["TOO_SOON"]],
    ["now", "2026-12-01T09:00/09:30", []],
    ["on the last day", "2026-12-29T10:00/11:00", []],
    ["after the last day", "2027-01-05T10:00/11:00", ["TOO_FAR_AHEAD"]],
    ["of the last century", "1976-12-01T10:00/11:00", ["OUTSIDE_HOURS", "TOO_SOON"]],
    ["of before 1970, whatever the hours", "1969-12-31T23:00/23:30", ["TOO_SOON"]],
    ["of before 1900", "1899-12-01T10:00/11:00", ["TOO_SOON"]],
    ["of the first day", "0001-01-01T00:00/10:00", ["TOO_SOON"]],
    ["of nine minutes before 1970", "1926-12-01T10:00/10:09", ["WINDOW_INVALID"]],
    ["at the end of time", "9999-12-31T22:00/23:00", ["TOO_FAR_AHEAD"]],
  ])("%s: %s", (_, text, reasons) => {
    expect(reasonsOf(NIGHTS, text)).toEqual(reasons);
  });
});

test("a window of 25 hours can end two dates after the one on which it starts", () => {
  const always = { hours: [{ days: EVERY_DAY, opens: "00:00", closes: "00:00" }] };
  expect(reasonsOf(always, "2026-12-02T22:30/2026-12-03T23:30")).toEqual([]);
});

describe("where hours of an exception last into those of the next date", () => {
  const calendar = calendarOf({
    time_zone: "UTC",
    slot_minutes: 60,
    hours: [{ days: EVERY_DAY, opens: "07:30", closes: "10:30" }],
    exceptions: [{ date: "2026-12-03", hours: [{ opens: "22:30", closes: "09:30" }] }],
  });
  test("each slot is listed once, in order", () => {
    const listed = listSlots(calendar, { fromDay: dayNumberOf("2026-12-04"), days: 1 }, NOW);
    expect(listed.map(({ slot }) => slot.localStart.slice(11, 16))).toEqual(
      ["00", "01", "02", "03", "04", "05", "06", "07", "08", "09"].map((hour) => `${hour}:30`),
    );
  });
  test("the next slot is the earliest of both", () => {
    const overlapping = calendarOf({
      time_zone: "UTC",
      slot_minutes: 60,
      hours: [{ days: EVERY_DAY, opens: "07:30", closes: "10:30" }],
      exceptions: [{ date: "2026-12-03", hours: [{ opens: "22:00", closes: "09:00" }] }],
    });
    const next = nextAvailable(overlapping, span("2026-12-04T07:10/08:10"), NOW);
    expect(next).toEqual(span("2026-12-04T07:30/08:30"));
  });
});

describe("free hours that touch, by a minute before the first of them end", () => {
  const listedAt = (time: string, hours: readonly (readonly [string, string])[], changes = {}) => {
    const nowMs = Date.parse(`2026-12-01T${time}Z`);
    const calendar = calendarOf({
      time_zone: "UTC",
      hours: hours.map(([opens, closes], i) => ({ days: EVERY_DAY, opens, closes, fee: `${i}` })),
      ...changes,
    });
    const dates = { fromDay: dayNumberOf("2026-12-01"), days: 1 };
    return listSlots(calendar, dates, nowMs).map(({ slot, decision }) => [
      `${slot.start.slice(11, 16)}/${slot.end.slice(11, 16)}`,
      ...decision.faults.map(({ reason }) => reason),
    ]);
  };
  const TOUCHING = [
    ["08:00", "12:00"],
    ["12:00", "18:00"],
  ] as const;

  test("are listed from that minute while ten are left, then as a whole that is too late", () => {
    expect(listedAt("11:50", TOUCHING)).toEqual([["11:50/12:00"], ["12:00/18:00"]]);
    expect(listedAt("11:51", TOUCHING)).toEqual([["08:00/12:00", "TOO_SOON"], ["12:00/18:00"]]);
    expect(listedAt("11:55", TOUCHING)).toEqual([["08:00/12:00", "TOO_SOON"], ["12:00/18:00"]]);
    const cutOff = { cut_offs: [{ until: "11:55", at: "06:00" }] };
    expect(listedAt("07:00", TOUCHING, cutOff)).toEqual([
      ["08:00/12:00", "CUT_OFF_PASSED"],
      ["12:00/18:00"],
    ]);
  });

  test("are not listed when they are too short for a window", () => {
    const short = [
      ["08:00", "08:09"],
      ["08:09", "12:00"],
      ["13:00", "13:10"],
    ] as const;
    expect(listedAt("07:00", short)).toEqual([["08:09/12:00"], ["13:00/13:10"]]);
  });
});

test("a window has to be booked as long before its start as the lead time says", () => {
  const lead = { lead_time_minutes: 120 };
  expect(reasonsOf(lead, "2026-12-01T10:59/11:59")).toEqual(["TOO_SOON"]);
  expect(reasonsOf(lead, "2026-12-01T11:00/12:00")).toEqual([]);
});

test("the horizon counts dates of the schedule’s time zone", () => {
  const changes = {
    horizon_days: 1,
    hours: [{ days: EVERY_DAY, opens: "00:00", closes: "00:00" }],
  };
  expect(reasonsOf(changes, "2026-12-02T22:30/22:59")).toEqual([]);
  expect(reasonsOf(changes, "2026-12-02T23:00/23:30")).toEqual(["TOO_FAR_AHEAD"]);
});

test("where there are slots, a window has to be one of them", () => {
  const slots = { time_zone: "UTC", slot_minutes: 90 };
  expect(reasonsOf(slots, "2026-12-02T09:30/11:00")).toEqual([]);
  expect(reasonsOf(slots, "2026-12-02T09:30/11:01")).toEqual(["WINDOW_INVALID"]);
  expect(reasonsOf(slots, "2026-12-02T09:00/10:30")).toEqual(["WINDOW_INVALID"]);
  // 18:00 comes before the seventh slot would end.
  expect(reasonsOf(slots, "2026-12-02T17:00/18:30")).toEqual(["OUTSIDE_HOURS"]);
});

describe("a cut-off", () => {
  const CUT_OFFS = {
    cut_offs: [
      // Of the morning, by 17:00 of the day before, which is 16:00 in UTC.
      { days: ["tue", "wed"], until: "12:00", days_before: 1, at: "17:00" },
      // Of every afternoon, by 11:00.
      { from: "12:00", at: "11:00" },
    ],
  };
  const cutOffOf = (text: string, nowMs = NOW) => {
    const { cutOffAtMs, faults } = decideWindow(calendarOf(CUT_OFFS), span(text), nowMs);
    return [cutOffAtMs === undefined ? undefined : new Date(cutOffAtMs).toISOString(), ...faults];
  };
  const passed = (at: string) => ({ reason: "CUT_OFF_PASSED", text: `had to be booked by ${at}` });
  test("is that of the local date and hour at which a window starts", () => {
    expect(cutOffOf("2026-12-02T08:00/09:00")).toEqual(["2026-12-01T16:00:00.000Z"]);
    expect(cutOffOf("2026-12-02T10:59/11:59")).toEqual(["2026-12-01T16:00:00.000Z"]);
    expect(cutOffOf("2026-12-02T11:00/12:00")).toEqual(["2026-12-02T10:00:00.000Z"]);
    expect(cutOffOf("2026-12-03T08:00/09:00")).toEqual([undefined]);
  });
  test("can be met to the moment, and is over after it", () => {
    const at = "2026-12-01T16:00:00.000Z";
    expect(cutOffOf("2026-12-02T08:00/09:00", Date.parse(at))).toEqual([at]);
    expect(cutOffOf("2026-12-02T08:00/09:00", Date.parse(at) + 1)).toEqual([at, passed(at)]);
  });
  test("of several, the earliest counts", () => {
    const both = [...CUT_OFFS.cut_offs, { days: ["wed"], at: "08:00", days_before: 2 }];
    const { cutOffAtMs } = decideWindow(
      calendarOf({ cut_offs: both }),
      span("2026-12-02T08:00/09:00"),
      NOW,
    );
    expect(cutOffAtMs).toBe(Date.parse("2026-11-30T07:00Z"));
  });
});

test("everything that is wrong is told at once", () => {
  const changes = { lead_time_minutes: 30, cut_offs: [{ at: "06:00" }] };
  expect(reasonsOf(changes, "2026-12-01T05:00/06:00")).toEqual([
    "OUTSIDE_HOURS",
    "CUT_OFF_PASSED",
    "TOO_SOON",
  ]);
});

test("a window costs the fee of its hours, the highest where it touches several", () => {
  const calendar = calendarOf({
    time_zone: "UTC",
    hours: [
      { days: EVERY_DAY, opens: "08:00", closes: "12:00", fee: "1.00" },
      { days: EVERY_DAY, opens: "12:00", closes: "18:00" },
      { days: EVERY_DAY, opens: "18:00", closes: "22:00", fee: "3.50" },
    ],
  });
  const feeOf = (text: string) => decideWindow(calendar, span(text), NOW).feeMinor;
  expect(
    ["10:00/12:00", "11:00/13:00", "12:00/13:00", "17:00/19:00"].map((it) =>
      feeOf(`2026-12-02T${it}`),
    ),
  ).toEqual([100, 100, 0, 350]);
});

describe("the next window that can be booked", () => {
  const next = (changes: object, text: string) => {
    const found = nextAvailable(calendarOf({ time_zone: "UTC", ...changes }), span(text), NOW);
    return (
      found && [found.startMs, found.endMs].map((ms) => new Date(ms).toISOString().slice(0, 16))
    );
  };
  test.each([
    [
      "the next slot",
      { slot_minutes: 120 },
      "2026-12-02T09:00/10:00",
      "2026-12-02T10:00",
      "2026-12-02T12:00",
    ],
    ["as long as asked for", {}, "2026-12-02T17:30/19:30", "2026-12-03T08:00", "2026-12-03T10:00"],
    [
      "after the lead time",
      { lead_time_minutes: 95 },
      "2026-12-01T09:00/10:00",
      "2026-12-01T10:35",
      "2026-12-01T11:35",
    ],
    [
      "where a cut-off that passed ends",
      { cut_offs: [{ until: "15:00", at: "07:00" }] },
      "2026-12-01T09:30/10:30",
      "2026-12-01T15:00",
      "2026-12-01T16:00",
    ],
    [
      "the first one where nothing is later",
      { horizon_days: 2 },
      "2027-05-01T10:00/11:00",
      "2026-12-01T09:00",
      "2026-12-01T10:00",
    ],
  ])("is %s", (_, changes, text, start, end) => {
    expect(next(changes, text)).toEqual([start, end]);
  });
  test("is none where all is closed", () => {
    expect(next({ hours: [] }, "2026-12-02T09:00/10:00")).toBeUndefined();
  });
});

test("free hours are listed from the first minute that can be booked", () => {
  const calendar = calendarOf({ time_zone: "UTC", lead_time_minutes: 31 });
  const listed = listSlots(calendar, { fromDay: dayNumberOf("2026-12-01"), days: 2 }, NOW + 1);
  expect(
    listed.map(({ slot, decision }) => [slot.localStart, slot.localEnd, decision.faults]),
  ).toEqual([
    ["2026-12-01T09:32:00+00:00", "2026-12-01T18:00:00+00:00", []],
    ["2026-12-02T08:00:00+00:00", "2026-12-02T18:00:00+00:00", []],
  ]);
});

const ZONES = [
  "Europe/Berlin",
  "America/New_York",
  "Australia/Lord_Howe",
  "Africa/Casablanca",
  "Pacific/Apia",
];

test("a window is in the hours exactly when the clock on the wall says so, in all time zones and seasons", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...ZONES),
      // No clock is changed after 05:00.
      fc.integer({ min: 5, max: 20 }),
      fc.integer({ min: 1, max: 3 }),
      fc.integer({ min: 0, max: 2 * 366 * 24 * 2 }),
      fc.integer({ min: 1, max: 6 }),
      (time_zone, opens, hours, startHalfHour, halfHours) => {
        const clock = (hour: number) => `${String(hour).padStart(2, "0")}:00`;
        const days = ["mon", "wed", "sun"];
        const calendar = calendarOf({
          time_zone,
          hours: [{ days, opens: clock(opens), closes: clock(opens + hours) }],
        });
        const startMs = Date.UTC(2026, 0, 1) + startHalfHour * 1_800_000;
        const window = { startMs, endMs: startMs + halfHours * 1_800_000 };
        const shown = new Intl.DateTimeFormat("en-GB", {
          timeZone: time_zone,
          weekday: "short",
          hour: "2-digit",
          minute: "2-digit",
          hourCycle: "h23",
        });
        const isOpen = (instant: number) => {
          const { weekday, hour } = Object.fromEntries(
            shown.formatToParts(instant).map(({ type, value }) => [type, value]),
          );
          return (
            days.includes(weekday!.toLowerCase()) &&
            Number(hour) >= opens &&
            Number(hour) < opens + hours
          );
        };
        const instants = Array.from({ length: halfHours }, (_, i) => startMs + i * 1_800_000);
        const { faults } = decideWindow(calendar, window, Date.UTC(2025, 11, 31));
        const isOutside = faults.some(({ reason }) => reason === "OUTSIDE_HOURS");
        expect(isOutside).toBe(!instants.every(isOpen));
      },
    ),
    { numRuns: 2_000 },
  );
});

test("what is listed as available, and what is next, can be booked; the next slot is the first available", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...ZONES),
      fc.option(fc.constantFrom(30, 45, 60, 240), { nil: undefined }),
      fc.integer({ min: 0, max: 3_000 }),
      fc.integer({ min: 0, max: 2 * 366 * 24 * 60 }),
      fc.constantFrom(
        [],
        [
          { until: "12:00", days_before: 1, at: "17:00" },
          { from: "15:00", at: "10:30" },
        ],
      ),
      (time_zone, slot_minutes, lead_time_minutes, nowMinute, cut_offs) => {
        const calendar = calendarOf({
          time_zone,
          slot_minutes,
          lead_time_minutes,
          cut_offs,
          hours: [
            { days: ["mon", "tue", "sat"], opens: "07:30", closes: "13:00" },
            { days: ["mon", "fri"], opens: "14:00", closes: "02:30" },
          ],
        });
        const nowMs = Date.UTC(2026, 0, 1) + nowMinute * 60_000;
        const fromDay = calendar.dayOf(nowMs).number;
        const available = listSlots(calendar, { fromDay, days: 14 }, nowMs).filter(
          ({ decision }) => decision.faults.length === 0,
        );
        for (const { slot } of available) {
          expect(decideWindow(calendar, slot, nowMs).faults).toEqual([]);
          expect(slot.startMs).toBeGreaterThanOrEqual(nowMs + lead_time_minutes * 60_000);
        }
        const next = nextAvailable(calendar, { startMs: nowMs, endMs: nowMs + 600_000 }, nowMs)!;
        expect(decideWindow(calendar, next, nowMs).faults).toEqual([]);
        if (slot_minutes !== undefined) expect(next.startMs).toBe(available[0]?.slot.startMs);
      },
    ),
    { numRuns: 300 },
  );
});
