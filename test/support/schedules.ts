import { parseTariff } from "../../src/domain/pricing/tariff.ts";
import { createCalendars, type Calendar } from "../../src/domain/schedule/calendar.ts";
import { worldTariff } from "./tariffs.ts";

/** Returns a tariff document's schedule: daily from 08:00 to 18:00 in Berlin, with `changes`. */
export function scheduleOf(changes: object = {}): Readonly<Record<string, unknown>> {
  return {
    name: "day",
    time_zone: "Europe/Berlin",
    hours: [{ days: EVERY_DAY, opens: "08:00", closes: "18:00" }],
    ...changes,
  };
}

/** All days of the week as a tariff document names them. */
export const EVERY_DAY = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/** Returns the calendar for the schedule from `scheduleOf`. */
export function calendarOf(changes: object = {}): Calendar {
  const { tariff, faults } = parseTariff(worldTariff({ schedules: [scheduleOf(changes)] }));
  if (faults !== undefined) throw new Error(JSON.stringify(faults));
  return createCalendars(tariff.scheduling!.schedules)[0]!;
}
