import fc from "fast-check";
import { expect, test } from "vitest";
import { calendarOf, EVERY_DAY } from "../../support/schedules.ts";
import { dayNumberOf } from "../../../src/domain/schedule/calendar.ts";

/** Dates of clock changes in Berlin. */
const DAYS_OF_CHANGE = ["2027-03-28", "2026-10-25"];

/** Returns the opening hours on a date in a time zone, as instants. */
function openingsOn(date: string, time_zone: string, hours: readonly (readonly [string, string])[]) {
  const calendar = calendarOf({
    time_zone,
    hours: hours.map(([opens, closes]) => ({ days: EVERY_DAY, opens, closes })),
  });
  return calendar.day(dayNumberOf(date)).openings.map(({ startMs, endMs }) => [startMs, endMs].map(textOf).join("/"));
}

function textOf(instantMs: number): string {
  return new Date(instantMs).toISOString().replace(":00.000Z", "Z");
}

// A skipped time uses the offset before the change. A repeated time means its first occurrence.
test.each([
  ["2027-03-28", "Europe/Berlin", "02:30/05:00", "01:30/03:00"],
  ["2027-03-28", "Europe/Berlin", "02:00/03:00", undefined],
  ["2026-10-25", "Europe/Berlin", "02:30/05:00", "00:30/04:00"],
  ["2026-10-25", "Europe/Berlin", "01:00/02:30", "23:00/00:30"],
  ["2026-03-08", "America/New_York", "02:30/05:00", "07:30/09:00"],
  ["2026-11-01", "America/New_York", "01:30/05:00", "05:30/10:00"],
  // Changes by half an hour: 02:00 becomes 02:30 at +10:30, and 02:00 at +11:00 becomes 01:30.
  ["2026-10-04", "Australia/Lord_Howe", "02:15/05:00", "15:45/18:00"],
  ["2026-04-05", "Australia/Lord_Howe", "01:45/05:00", "14:45/18:30"],
  // The clock goes back at 03:00 when Ramadan begins, and forward when it ends.
  ["2026-02-15", "Africa/Casablanca", "02:30/05:00", "01:30/05:00"],
  ["2026-03-22", "Africa/Casablanca", "02:30/05:00", "02:30/04:00"],
])("on %s, when the clock changes in %s, the hours %s are %s in UTC", (date, zone, hours, utc) => {
  const [opening] = openingsOn(date, zone, [hours.split("/") as [string, string]]);
  expect(opening?.replaceAll(/\d{4}-\d\d-\d\dT|Z/g, "")).toBe(utc);
});

test("a date that Apia skipped has no hours, and the dates around it have theirs", () => {
  const openings = ["2011-12-29", "2011-12-30", "2011-12-31"].map((date) =>
    openingsOn(date, "Pacific/Apia", [["08:00", "18:00"]]),
  );
  expect(openings).toEqual([["2011-12-29T18:00Z/2011-12-30T04:00Z"], [], ["2011-12-30T18:00Z/2011-12-31T04:00Z"]]);
});

test("hours that close at or before their opening time extend into the next day", () => {
  expect(
    openingsOn("2026-12-01", "UTC", [
      ["00:00", "02:00"],
      ["22:00", "00:00"],
    ]),
  ).toEqual(["2026-12-01T00:00Z/2026-12-01T02:00Z", "2026-12-01T22:00Z/2026-12-02T00:00Z"]);
  expect(openingsOn("2026-12-01", "UTC", [["08:00", "08:00"]])).toEqual(["2026-12-01T08:00Z/2026-12-02T08:00Z"]);
});

test("a day has one slot per hour, each with its local time", () => {
  const always = {
    hours: [{ days: EVERY_DAY, opens: "00:00", closes: "00:00" }],
    slot_minutes: 60,
  };
  const calendar = calendarOf(always);
  const slotsOn = (date: string) => calendar.day(dayNumberOf(date)).slots;
  expect(["2027-03-28", "2027-03-29", "2026-10-25"].map((date) => slotsOn(date).length)).toEqual([23, 24, 25]);
  const local = slotsOn("2026-10-25").map(({ localStart }) => localStart);
  expect(local.slice(1, 5)).toEqual([
    "2026-10-25T01:00:00+02:00",
    "2026-10-25T02:00:00+02:00",
    "2026-10-25T02:00:00+01:00",
    "2026-10-25T03:00:00+01:00",
  ]);
});

test("an exception has its own hours or none, and an opening's remainder shorter than a slot is dropped", () => {
  const calendar = calendarOf({
    time_zone: "UTC",
    exceptions: [
      { date: "2026-12-24", hours: [{ opens: "08:00", closes: "10:30", fee: "2.50" }] },
      { date: "2026-12-25", note: "Christmas Day" },
    ],
    slot_minutes: 60,
  });
  const day = (date: string) => calendar.day(dayNumberOf(date));
  expect(day("2026-12-23").slots).toHaveLength(10);
  expect(day("2026-12-24").slots.map(({ localStart, feeMinor }) => [localStart, feeMinor])).toEqual([
    ["2026-12-24T08:00:00+00:00", 250],
    ["2026-12-24T09:00:00+00:00", 250],
  ]);
  expect(day("2026-12-25")).toMatchObject({ openings: [], slots: [] });
});

test.each([
  "Europe/Berlin",
  "America/New_York",
  "Australia/Lord_Howe",
  "Africa/Casablanca",
  "Pacific/Apia",
  "Pacific/Kiritimati",
  "Etc/GMT+12",
])("every instant of a year is on one date of %s, that of the local clock", (timeZone) => {
  const calendar = calendarOf({ time_zone: timeZone });
  const clock = new Intl.DateTimeFormat("en-CA", { timeZone, dateStyle: "short" });
  for (let hour = 0; hour < 366 * 24; hour += 5) {
    const instant = Date.UTC(2026, 0, 1, hour);
    expect(calendar.dayOf(instant).number).toBe(dayNumberOf(clock.format(instant)));
  }
});

test("the texts of a slot match its instants, also across clock changes", () => {
  const zones = ["Europe/Berlin", "Australia/Lord_Howe", "Africa/Casablanca", "Pacific/Apia"];
  const hours = [{ days: EVERY_DAY, opens: "00:00", closes: "00:00" }];
  const calendars = zones.map((time_zone) => calendarOf({ time_zone, hours, slot_minutes: 45 }));
  const days = fc.integer({
    min: dayNumberOf("1910-01-01"),
    max: dayNumberOf("2050-01-01"),
  });
  fc.assert(
    fc.property(fc.constantFrom(...calendars), days, (calendar, day) => {
      const { timeZone } = calendar.schedule;
      const local = (ms: number) => {
        const at = Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timeZone);
        return at.toString({ timeZoneName: "never", smallestUnit: "second" });
      };
      for (const slot of calendar.day(day).slots) {
        expect(slot).toMatchObject({
          start: new Date(slot.startMs).toISOString(),
          end: new Date(slot.endMs).toISOString(),
          localStart: local(slot.startMs),
          localEnd: local(slot.endMs),
        });
      }
    }),
    { examples: DAYS_OF_CHANGE.map((date) => [calendars[0]!, dayNumberOf(date)]) },
  );
});
