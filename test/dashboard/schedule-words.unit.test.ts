import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { TariffSchedulesSchema } from "../../gen/shipments/admin/v1/tariff_pb.js";
import { isSameText } from "../../src/dashboard/tariffs/draft-fields.ts";
import { newSchedule, schedulesOfText, textOfSchedules } from "../../src/dashboard/tariffs/schedule-fields.ts";
import { cutOffText, differenceText, weekTexts } from "../../src/dashboard/tariffs/schedule-words.ts";

const WEEKDAYS = ["mon", "tue", "wed", "thu", "fri"];

const schedules = (changes: object = {}): MessageInitShape<typeof TariffSchedulesSchema> => ({
  defaultSchedule: "city",
  schedules: [
    {
      name: "city",
      timeZone: "Europe/Berlin",
      hours: [
        { days: WEEKDAYS, opens: "08:00", closes: "18:00", fee: "" },
        { days: ["fri", "sat"], opens: "18:00", closes: "01:00", fee: "2.50" },
      ],
      exceptions: [{ date: "2026-12-25", hours: [], note: "Christmas Day", capacity: 3 }],
      leadTimeMinutes: 90,
      horizonDays: 30,
      slotMinutes: 60,
      capacity: 8,
      capacityUnit: "kilograms",
      payWithinMinutes: 30,
      attentionAbove: 20,
      cutOffs: [{ days: ["mon"], from: "", until: "12:00", daysBefore: 3, at: "17:00" }],
      asSoonAsPossible: true,
      ...changes,
    },
  ],
});
const messageOf = (changes: object = {}) => create(TariffSchedulesSchema, schedules(changes));

test("loaded schedules are saved unchanged, with hours shared by several days in one entry", () => {
  const text = textOfSchedules(messageOf({ timeZone: "America/New_York" }));
  expect(text.schedules[0]!.time_zone).toBe("America/New York");
  expect(schedulesOfText(text)).toEqual(schedules({ timeZone: "America/New_York" }));
  expect(text.schedules[0]!.week[4]!.map(({ path }) => path)).toEqual([
    "schedules[0].hours[0]",
    "schedules[0].hours[1]",
  ]);
});

test("comparing schedules ignores where their rows are stored", () => {
  const text = textOfSchedules(messageOf());
  expect(isSameText(text, textOfSchedules(messageOf()))).toBe(true);
  expect(isSameText(text, textOfSchedules(messageOf({ slotMinutes: 30 })))).toBe(false);
});

test("text that is not a whole number is refused at its field before the request is sent", () => {
  const schedule = { ...newSchedule("day"), horizon_days: "a month" };
  const text = { schedules: [schedule], default_schedule: "" };
  expect(() => schedulesOfText(text)).toThrow("Must be a whole number, not “a month”.");
});

test("describes hours and cut-offs in words, grouping consecutive days", () => {
  const [schedule] = messageOf().schedules;
  expect(weekTexts(schedule!.hours)).toEqual([
    "Mon to Thu 08:00 to 18:00",
    "Fri 08:00 to 18:00 and 18:00 to 01:00 the next day, 2.50 extra",
    "Sat 18:00 to 01:00 the next day, 2.50 extra",
  ]);
  expect(schedule!.cutOffs.map(cutOffText)).toEqual(["Mon before 12:00: by 17:00, 3 days before"]);
});

test("describes differences in dates, fields, whole schedules and the default in words", () => {
  const [before, after] = [messageOf(), messageOf({ exceptions: [], slotMinutes: undefined })];
  after.defaultSchedule = "";
  const none = create(TariffSchedulesSchema);
  expect(
    ["default_schedule", "schedules[city].slot_minutes", "schedules[city].exceptions[2026-12-25]"].map((path) =>
      differenceText(path, before, after),
    ),
  ).toEqual([
    {
      schedule: "Default schedule",
      part: "Name",
      before: "city",
      after: "No schedule",
    },
    {
      schedule: "city",
      part: "Slots",
      before: "1 hour",
      after: "Any time within the hours",
    },
    {
      schedule: "city",
      part: "Fri, Dec 25, 2026",
      before: "Closed (Christmas Day)",
      after: "As in other weeks",
    },
  ]);
  expect(differenceText("schedules[city]", before, none)).toEqual({
    schedule: "city",
    part: "The whole schedule",
    before: expect.stringMatching(/^Europe\/Berlin, Mon to Thu 08:00/),
    after: "—",
  });
});
