import { SlotCapacityUnit } from "../../../gen/shipments/v1/window_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import { type Calendar, DAY_MS, slotStartingAt } from "../../domain/schedule/calendar.ts";
import { type SlotLoad, takenOf, unitOf } from "../../domain/schedule/slot-load.ts";
import { listSlots } from "../../domain/schedule/slots.ts";
import type { TariffCache } from "../tariffs/versions/tariff-cache.ts";
import { createSlots } from "./slots.ts";

/** Returns the calendars of the tariff in force. */
export function calendarsOf(tariffs: Pick<TariffCache, "current" | "currentVersion">): readonly Calendar[] {
  return tariffs.currentVersion() === undefined ? [] : (tariffs.current().pricing.calendars ?? []);
}

/** Loads the reserved places of live slots that start within 24 hours. */
function loadPlaces(em: EntityManager, nowMs: number) {
  return createSlots(em).liveLoads({ startMs: nowMs, endMs: nowMs + DAY_MS });
}

/** Share of the capacity above which a slot is busy. */
const NEARLY_FULL = 0.9;

/** Returns the busy slots of the next 24 hours, in order. A closed slot is not busy. The capacity of an unlimited one is null. */
export async function loadBusySlots(em: EntityManager, calendars: readonly Calendar[], nowMs: number) {
  const calendarOf = new Map(calendars.map((calendar) => [calendar.schedule.name, calendar]));
  const loads = calendars.length === 0 ? [] : await loadPlaces(em, nowMs);
  return loads.flatMap((load) => {
    const { schedule, startMs, endMs } = load;
    const calendar = calendarOf.get(schedule);
    const slot = calendar && slotStartingAt(calendar, startMs);
    if (slot?.capacity === undefined || slot.endMs !== endMs) return [];
    const capacity = load.capacity ?? slot.capacity;
    const most = capacity === null ? calendar!.schedule.capacity!.attentionAbove! : NEARLY_FULL * capacity;
    const unit = unitOf(calendar);
    const taken = takenOf(load, unit);
    return capacity === 0 || taken <= most ? [] : [{ schedule, startMs, unit, taken, capacity }];
  });
}

/**
 * Adds up the capacity and the taken places of the slots that start within 24 hours, by calendar. Omits calendars
 * without such slots.
 */
export async function loadSlotUse(em: EntityManager, calendars: readonly Calendar[], nowMs: number) {
  const limited = calendars.filter(({ schedule }) => schedule.capacity !== undefined);
  if (limited.length === 0) return [];
  const loads = Map.groupBy(await loadPlaces(em, nowMs), ({ schedule }) => schedule);
  return limited.flatMap((calendar) => {
    const { name } = calendar.schedule;
    const unit = unitOf(calendar);
    const loadOf = new Map(loads.get(name)?.map((load) => [`${load.startMs} ${load.endMs}`, load]));
    const slots = listSlots(calendar, { fromDay: calendar.dayOf(nowMs).number, days: 2 }, nowMs).flatMap(({ slot }) => {
      const load = loadOf.get(`${slot.startMs} ${slot.endMs}`);
      const capacity = load?.capacity ?? slot.capacity ?? undefined;
      const isInSpan = slot.startMs >= nowMs && slot.startMs < nowMs + DAY_MS;
      return capacity === undefined || !isInSpan ? [] : [{ shipments: 0, milligrams: 0, ...load, capacity }];
    });
    if (slots.length === 0) return [];
    const sumOf = (figure: keyof SlotLoad) => slots.reduce((sum, slot) => sum + slot[figure], 0);
    const taken = takenOf({ shipments: sumOf("shipments"), milligrams: sumOf("milligrams") }, unit);
    const wireUnit = unit === "kilograms" ? SlotCapacityUnit.KILOGRAMS : SlotCapacityUnit.SHIPMENTS;
    return [{ schedule: name, unit: wireUnit, capacity: sumOf("capacity"), taken }];
  });
}
