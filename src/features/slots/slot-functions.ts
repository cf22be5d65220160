import { timestampMs } from "@bufbuild/protobuf/wkt";
import {
  type LimitedSlot,
  ListSlotsResponseSchema,
  type SlotService,
} from "../../../gen/shipments/admin/v1/slot_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { refuse } from "../../domain/refusal.ts";
import { type Calendar, type Slot, slotStartingAt } from "../../domain/schedule/calendar.ts";
import { takenOf, toMilligrams, unitOf } from "../../domain/schedule/slot-load.ts";
import { listSlots } from "../../domain/schedule/slots.ts";
import { compileToMessage, type RecordOf } from "../../json/records.ts";
import type { OperatorCall } from "../../pipeline/call.ts";
import { compileResponse } from "../../pipeline/rpc-response.ts";
import type { ServiceFunctions } from "../../pipeline/rpc.ts";
import { changesBetween, recordChange } from "../audit/record-change.ts";
import type { TariffCache } from "../tariffs/versions/tariff-cache.ts";
import { addition, createSlots, slotId, type SlotPlaces } from "./slots.ts";

export interface SlotDeps {
  readonly em: EntityManager;
  readonly tariffs: Pick<TariffCache, "inForce">;
  readonly now: () => Date;
}

const DEFAULT_DAYS = 7;

const SET_CAPACITY = `
  update slot set capacity = $2::int from (select id, capacity from slot where id = $1 for update) as before
  where slot.id = before.id returning before.capacity`;

const respond = compileResponse(ListSlotsResponseSchema);
const toMessage = compileToMessage(ListSlotsResponseSchema);

export const SLOT_FUNCTIONS: ServiceFunctions<typeof SlotService, OperatorCall, SlotDeps> = {
  async listSlots({ schedule, days = DEFAULT_DAYS }, _call, { em, tariffs, now }) {
    const fork = em.fork();
    const calendar = await findCalendar(fork, schedule, tariffs);
    const nowMs = now().getTime();
    const listed = listSlots(calendar, { fromDay: calendar.dayOf(nowMs).number, days }, nowMs);
    const counted = listed.map(({ slot }) => slot).filter(({ capacity }) => capacity !== undefined);
    return respond({ data: await recordsOf(fork, calendar, counted), nextPageToken: "" });
  },

  async setSlotCapacity({ schedule: name, start, capacity }, call, { em, tariffs, now }) {
    const calendar = await findCalendar(em, name, tariffs);
    const schedule = calendar.schedule.name;
    const startMs = timestampMs(start);
    const slot = slotStartingAt(calendar, startMs);
    if (slot?.capacity === undefined)
      throw notFoundError("The schedule has no slot with a capacity or an alert at this time.", "start");
    if (slot.endMs <= now().getTime()) throw notFoundError("The slot is over.", "start");
    const key = { twinId: null, schedule, startMs, endMs: slot.endMs };
    await runStatement(em, ...addition(slotId(key), key));
    const [before] = await runStatement<{ capacity: number | null }>(em, SET_CAPACITY, [slotId(key), capacity ?? null]);
    const changes = changesBetween({ capacity: before!.capacity }, { capacity });
    if (changes.length > 0) recordChange(em, call, { subject: `slot/${slot.start} ${schedule}`, changes });
    const records = await recordsOf(em, calendar, [slot]);
    return { data: toMessage({ data: records, nextPageToken: "" }).data[0]! };
  },
};

/** @param name normalized, because it comes from a request. Names in the tariff are not normalized */
async function findCalendar(em: EntityManager, name: string, tariffs: SlotDeps["tariffs"]): Promise<Calendar> {
  const { pricing } = await tariffs.inForce(em);
  const calendar =
    pricing.calendars?.find(({ schedule }) => schedule.name === name) ??
    pricing.calendars?.find(({ schedule }) => schedule.name.normalize("NFC").trim() === name);
  if (calendar === undefined) throw notFoundError("The tariff in force has no schedule with this name.", "schedule");
  return calendar;
}

function notFoundError(text: string, subject: string) {
  return refuse("SLOT_NOT_FOUND", text, { subject });
}

async function recordsOf(
  em: EntityManager,
  calendar: Calendar,
  slots: readonly Slot[],
): Promise<RecordOf<LimitedSlot>[]> {
  const [first, last] = [slots[0], slots.at(-1)];
  if (first === undefined || last === undefined) return [];
  const key = { schedule: calendar.schedule.name, twinId: null };
  const placesOf = await createSlots(em).places(key, { startMs: first.startMs, endMs: last.endMs });
  const unit = unitOf(calendar);
  return slots.map((slot) => {
    const places = placesOf(slot) ?? NO_PLACES;
    const { shipments, milligrams, heldShipments, heldMilligrams } = places;
    const capacity = places.capacity ?? slot.capacity ?? undefined;
    const leftIn = (most: number) =>
      takenOf({ shipments: most - shipments, milligrams: toMilligrams(most) - milligrams }, unit);
    return {
      start: slot.startMs,
      end: slot.endMs,
      unit,
      capacity,
      setCapacity: places.capacity ?? undefined,
      booked: takenOf({ shipments: shipments - heldShipments, milligrams: milligrams - heldMilligrams }, unit),
      held: takenOf({ shipments: heldShipments, milligrams: heldMilligrams }, unit),
      remaining: capacity === undefined ? undefined : Math.max(0, leftIn(capacity)),
    };
  });
}

const NO_PLACES: SlotPlaces = { capacity: null, shipments: 0, milligrams: 0, heldShipments: 0, heldMilligrams: 0 };
