import { expect, test } from "vitest";
import { calendarOf } from "../../support/schedules.ts";
import { decideWindows } from "../../../src/domain/schedule/decide-windows.ts";

const NOW = Date.parse("2026-12-01T09:00Z");
const BERLIN = calendarOf();
const NEW_YORK = calendarOf({ time_zone: "America/New_York" });

function span(start: string, end: string) {
  return { startMs: Date.parse(`2026-12-${start}Z`), endMs: Date.parse(`2026-12-${end}Z`) };
}

const NONE = { pickup: undefined, dropoff: undefined };
const MORNING = span("02T08:00", "02T09:00");

test("each end follows the schedule of its own zone, and their fees add up", () => {
  const calendars = {
    pickup: BERLIN,
    dropoff: calendarOf({
      time_zone: "America/New_York",
      hours: [{ days: ["wed"], opens: "08:00", closes: "18:00", fee: "1.25" }],
    }),
  };
  const evening = span("02T21:00", "02T23:00");
  const windows = { pickup: MORNING, dropoff: evening };
  expect(decideWindows({ calendars, windows }, NOW)).toEqual({
    violations: [],
    facts: {},
    windows: {
      pickup: { ...MORNING, timeZone: "Europe/Berlin", feeMinor: 0 },
      dropoff: { ...evening, timeZone: "America/New_York", feeMinor: 125 },
    },
    feeMinor: 125,
  });
});

test("refuses both windows with all their violations and the next available ones", () => {
  const calendars = {
    pickup: calendarOf({ lead_time_minutes: 60, cut_offs: [{ at: "09:00" }] }),
    dropoff: NEW_YORK,
  };
  const windows = { pickup: span("01T09:30", "01T10:30"), dropoff: span("01T09:00", "01T10:00") };
  const decision = decideWindows({ calendars, windows }, NOW);
  expect(decision.violations.map(({ reason, subject }) => `${subject} ${reason}`)).toEqual([
    "pickup_window CUT_OFF_PASSED",
    "pickup_window TOO_SOON",
    "dropoff_window OUTSIDE_HOURS",
    "dropoff_window WINDOW_INVALID",
  ]);
  expect(decision.violations.map(({ text }) => text)).toEqual([
    "pickup_window had to be booked by 2026-12-01T08:00:00.000Z. The next available window is 2026-12-02T07:00:00.000Z to 2026-12-02T08:00:00.000Z.",
    "pickup_window must start at least 60 minutes from now.",
    "dropoff_window must be within the hours of its zone, in the time zone America/New_York. The next available window is 2026-12-01T13:00:00.000Z to 2026-12-01T14:00:00.000Z.",
    "dropoff_window must neither start nor end before pickup_window does.",
  ]);
  expect(decision.facts).toEqual({
    cut_off_at: "2026-12-01T08:00:00.000Z",
    next_available: "2026-12-02T07:00:00.000Z",
    next_available_end: "2026-12-02T08:00:00.000Z",
    dropoff_next_available: "2026-12-01T13:00:00.000Z",
    dropoff_next_available_end: "2026-12-01T14:00:00.000Z",
  });
});

test("refuses a pickup without a window if the schedule requires one, but not a dropoff", () => {
  const strict = calendarOf({ as_soon_as_possible: false, slot_minutes: 60 });
  const decided = (calendars: { pickup: typeof strict; dropoff: typeof strict }) =>
    decideWindows({ calendars, windows: NONE }, NOW);
  expect(decided({ pickup: BERLIN, dropoff: strict }).violations).toEqual([]);
  expect(decided({ pickup: strict, dropoff: BERLIN })).toMatchObject({
    violations: [
      {
        reason: "WINDOW_INVALID",
        subject: "pickup_window",
        text: "pickup_window is required: the zone does not offer pickup as soon as possible. The next available window is 2026-12-01T09:00:00.000Z to 2026-12-01T10:00:00.000Z.",
      },
    ],
    facts: {
      next_available: "2026-12-01T09:00:00.000Z",
      next_available_end: "2026-12-01T10:00:00.000Z",
    },
  });
});

test("refuses a window if the zone has no schedule", () => {
  const requested = { calendars: NONE, windows: { pickup: MORNING, dropoff: MORNING } };
  expect(decideWindows(requested, NOW).violations.map(({ text }) => text)).toEqual([
    "pickup_window must be omitted: the zone of the pickup has no schedule.",
    "dropoff_window must be omitted: the zone of the dropoff has no schedule.",
  ]);
});

test("does not check a booked window again, but requires the other to fit it", () => {
  const booked = { ...span("01T08:00", "01T08:30"), timeZone: "Europe/Berlin", feeMinor: 70 };
  const decided = (dropoff: typeof MORNING) =>
    decideWindows(
      {
        calendars: { pickup: BERLIN, dropoff: BERLIN },
        windows: { pickup: booked, dropoff },
        booked: { pickup: booked, dropoff: undefined },
      },
      NOW,
    );
  expect(decided(MORNING)).toMatchObject({
    violations: [],
    windows: { pickup: booked },
    feeMinor: 70,
  });
  expect(decided(span("01T07:00", "01T08:00")).violations.map(({ reason }) => reason)).toEqual([
    "TOO_SOON",
    "WINDOW_INVALID",
  ]);
});
