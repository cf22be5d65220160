import type { EntityManager } from "../../db/orm.ts";
import { type Calendar, slotStartingAt, type Span } from "../../domain/schedule/calendar.ts";
import { takenOf, unitOf } from "../../domain/schedule/slot-load.ts";
import { createSlots } from "./slots.ts";

/** Share of the capacity above which a slot is busy. */
const NEARLY_FULL = 0.9;

/** Returns the busy slots of the calendars that start in a time span, in order. A closed slot is not busy. */
export async function loadBusySlots(em: EntityManager, calendars: readonly Calendar[], span: Span) {
  const calendarOf = new Map(calendars.map((calendar) => [calendar.schedule.name, calendar]));
  const loads = await createSlots(em).liveLoads(span);
  return loads.filter((load) => {
    const calendar = calendarOf.get(load.schedule);
    const slot = calendar && slotStartingAt(calendar, load.startMs);
    if (slot?.capacity === undefined || slot.endMs !== load.endMs) return false;
    const capacity = load.capacity ?? slot.capacity;
    const most = capacity === null ? calendar!.schedule.capacity!.attentionAbove! : NEARLY_FULL * capacity;
    return capacity !== 0 && takenOf(load, unitOf(calendar)) > most;
  });
}
