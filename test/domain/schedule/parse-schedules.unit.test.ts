import { describe, expect, test } from "vitest";
import { EVERY_DAY, scheduleOf } from "../../support/schedules.ts";
import { square, worldTariff, zonesOf } from "../../support/tariffs.ts";
import { parseTariff } from "../../../src/domain/pricing/tariff.ts";

function faultsOf(document: object) {
  return parseTariff(worldTariff(document)).faults?.map(({ path, text }) => `${path} ${text}`);
}

const DAY = [{ opensMinute: 480, closesMinute: 1_080, feeMinor: 0 }];

test("a minimal schedule has no lead time, a horizon of 30 days, free windows and no cut-off", () => {
  const { tariff } = parseTariff(worldTariff({ schedules: [scheduleOf()], default_schedule: "day" }));
  expect(tariff!.scheduling).toEqual({
    schedules: [
      {
        name: "day",
        timeZone: "Europe/Berlin",
        week: EVERY_DAY.map(() => DAY),
        exceptions: {},
        leadTimeMinutes: 0,
        horizonDays: 30,
        slotMinutes: undefined,
        cutOffs: [],
        asSoonAsPossible: true,
      },
    ],
    ofZone: Int8Array.of(0),
  });
});

test("reads all fields of a schedule", () => {
  const schedule = scheduleOf({
    hours: [
      { days: ["fri"], opens: "22:00", closes: "00:00", fee: "2.50" },
      { days: ["fri"], opens: "08:00", closes: "12:00" },
    ],
    exceptions: [
      { date: "2026-12-25", note: "Christmas Day" },
      { date: "2026-12-24", hours: [{ opens: "08:00", closes: "12:00", fee: "1" }], capacity: 2 },
    ],
    lead_time_minutes: 90,
    horizon_days: 14,
    slot_minutes: 30,
    cut_offs: [{ days: ["sat", "sun"], from: "08:00", until: "12:00", days_before: 2, at: "17:00" }, { at: "09:00" }],
    as_soon_as_possible: false,
    capacity: 4,
    capacity_unit: "kilograms",
    pay_within_minutes: 30,
    attention_above: 20,
  });
  const { tariff } = parseTariff(worldTariff({ schedules: [schedule] }));
  expect(tariff!.scheduling!.schedules[0]).toEqual({
    name: "day",
    timeZone: "Europe/Berlin",
    week: EVERY_DAY.map((day) =>
      day === "fri"
        ? [
            { opensMinute: 480, closesMinute: 720, feeMinor: 0 },
            { opensMinute: 1_320, closesMinute: 1_440, feeMinor: 250 },
          ]
        : [],
    ),
    exceptions: {
      "2026-12-25": [],
      "2026-12-24": [{ opensMinute: 480, closesMinute: 720, feeMinor: 100 }],
    },
    leadTimeMinutes: 90,
    horizonDays: 14,
    slotMinutes: 30,
    cutOffs: [
      {
        days: EVERY_DAY.map((day) => ["sat", "sun"].includes(day)),
        fromMinute: 480,
        untilMinute: 720,
        daysBefore: 2,
        atMinute: 1_020,
      },
      {
        days: EVERY_DAY.map(() => true),
        fromMinute: 0,
        untilMinute: 1_440,
        daysBefore: 0,
        atMinute: 540,
      },
    ],
    asSoonAsPossible: false,
    capacity: {
      perSlot: 4,
      unit: "kilograms",
      onDates: { "2026-12-24": 2 },
      payWithinMinutes: 30,
      attentionAbove: 20,
    },
  });
});

test("a zone has the schedule that it names, otherwise the default one or none", () => {
  const zones = zonesOf(square(0, 0, 1, 1), square(1, 0, 2, 1), square(2, 0, 3, 1)) as {
    features: { properties: object }[];
  };
  zones.features[1]!.properties = { name: "Night", schedule: "night" };
  const schedules = [scheduleOf(), scheduleOf({ name: "night" })];
  const ofZone = (document: object) => parseTariff(worldTariff({ zones, ...document })).tariff!.scheduling?.ofZone;
  expect(ofZone({ schedules })).toEqual(Int8Array.of(-1, 1, -1));
  expect(ofZone({ schedules, default_schedule: "day" })).toEqual(Int8Array.of(0, 1, 0));
  // The property has no meaning in a tariff without schedules.
  expect(ofZone({})).toBeUndefined();
});

describe("a fault has the path, the rule and the value", () => {
  test("names and notes are limited in characters, not bytes", () => {
    const named = (length: number) => scheduleOf({ name: "🚚".repeat(length) });
    const noted = (length: number) => scheduleOf({ exceptions: [{ date: "2026-12-25", note: "🚚".repeat(length) }] });
    expect(faultsOf({ schedules: [named(100)] })).toBeUndefined();
    expect(faultsOf({ schedules: [named(101)] })).toEqual([
      `schedules[0].name must be text of 1 to 100 characters; it is "${"🚚".repeat(40)}…"`,
    ]);
    expect(faultsOf({ schedules: [noted(200)] })).toBeUndefined();
    expect(faultsOf({ schedules: [noted(201)] })).toHaveLength(1);
  });
  const NAME = "must be text of 1 to 100 characters; it is";
  const DEFAULT = "default_schedule must be the name of one of the schedules; it is";
  test.each<[string, object]>([
    ["schedules must be a list of at most 100; it is an object", { schedules: {} }],
    ['schedules[0] must be an object; it is "day"', { schedules: ["day"] }],
    [`schedules[0].name ${NAME} " "`, { schedules: [scheduleOf({ name: " " })] }],
    [
      'schedules[1].name must differ from that of every other schedule; schedules[0] has "day" too',
      { schedules: [scheduleOf(), scheduleOf()] },
    ],
    [`${DEFAULT} "night"`, { schedules: [scheduleOf()], default_schedule: "night" }],
    [`${DEFAULT} "day"`, { default_schedule: "day" }],
  ])("%s", (fault, document) => {
    expect(faultsOf(document)).toEqual([fault]);
  });

  const monday = (changes: object) => ({
    hours: [{ days: ["mon"], opens: "08:00", closes: "12:00", ...changes }],
  });
  const TIME = 'must be a time from "00:00" to "23:59"; it is';
  const DAYS = "hours[0].days must be a list of days: mon, tue, wed, thu, fri, sat, sun; it is";
  const onMonday = (opens: string, closes: string) =>
    `hours must not overlap; on mon some open at ${opens} while others last until ${closes}`;
  const on = (date: string, rest = {}) => ({ date, ...rest });
  test.each<[string, object]>([
    ["capacity must be a whole number from 1 to 100000; it is 0", { slot_minutes: 60, capacity: 0 }],
    ["slot_minutes must be set because the schedule limits or counts its slots", { attention_above: 1 }],
    ["attention_above must be a whole number from 1 to 100000; it is 0", { slot_minutes: 60, attention_above: 0 }],
    [
      'capacity_unit must be one of shipments, kilograms; it is "pallets"',
      { slot_minutes: 60, capacity: 1, capacity_unit: "pallets" },
    ],
    [
      "exceptions[0].capacity must be a whole number from 1 to 100000; it is 100001",
      { slot_minutes: 60, exceptions: [on("2026-12-25", { capacity: 100_001 })] },
    ],
    [
      "pay_within_minutes must be a whole number from 10 to 10080; it is 5",
      { slot_minutes: 60, capacity: 1, pay_within_minutes: 5 },
    ],
    [
      'time_zone must be the IANA name of a time zone, such as "Europe/Berlin"; it is "+01:00"',
      { time_zone: "+01:00" },
    ],
    [`hours[0].opens ${TIME} "8:00"`, monday({ opens: "8:00" })],
    [`${DAYS} "monday"`, monday({ days: ["monday"] })],
    [`${DAYS} empty`, monday({ days: [] })],
    [
      'hours[0].fee must have at most 2 decimals in USD; it is "1.005"; round it; only rates can have more decimals',
      monday({ fee: "1.005" }),
    ],
    [
      onMonday("11:00", "12:00"),
      {
        hours: [
          { days: ["mon"], opens: "08:00", closes: "12:00" },
          { days: ["mon", "tue"], opens: "11:00", closes: "13:00" },
        ],
      },
    ],
    [
      onMonday("01:00", "02:00"),
      {
        hours: [
          { days: ["sun"], opens: "22:00", closes: "02:00" },
          { days: ["mon"], opens: "01:00", closes: "13:00" },
        ],
      },
    ],
    ['exceptions[0].date must be a date such as "2026-12-25"; it is "2026-02-29"', { exceptions: [on("2026-02-29")] }],
    [
      "exceptions[1].date must be listed once; 2026-12-25 is listed already; combine its hours",
      { exceptions: [on("2026-12-25"), on("2026-12-25")] },
    ],
    ["exceptions must be a list of at most 400; it has 401", { exceptions: Array.from({ length: 401 }, () => ({})) }],
    [
      "exceptions[0].note must be text of at most 200 characters; it is 1",
      { exceptions: [on("2026-12-25", { note: 1 })] },
    ],
    ["lead_time_minutes must be a whole number from 0 to 43200; it is -1", { lead_time_minutes: -1 }],
    ["horizon_days must be a whole number from 1 to 366; it is 367", { horizon_days: 367 }],
    ["slot_minutes must be a whole number from 10 to 1440; it is 5", { slot_minutes: 5 }],
    [`cut_offs[0].at ${TIME} missing`, { cut_offs: [{}] }],
    [
      "cut_offs[0].until must be later than from, 12:00; omit it for the end of the day",
      { cut_offs: [{ from: "12:00", until: "12:00", at: "10:00" }] },
    ],
    ['as_soon_as_possible must be true or false; it is "yes"', { as_soon_as_possible: "yes" }],
  ])("%s", (fault, changes) => {
    expect(faultsOf({ schedules: [scheduleOf(changes)] })).toEqual([`schedules[0].${fault}`]);
  });

  test("a zone with an unknown schedule", () => {
    const zones = zonesOf(square(0, 0, 1, 1)) as { features: { properties: object }[] };
    zones.features[0]!.properties = { schedule: "night" };
    expect(faultsOf({ zones, schedules: [scheduleOf()] })).toEqual([
      'zones[0].properties.schedule must be the name of one of the schedules; it is "night"',
    ]);
  });
});
