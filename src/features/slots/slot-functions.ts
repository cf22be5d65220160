import { timestampMs } from "@bufbuild/protobuf/wkt";
import {
  type LimitedSlot,
  ListSlotsResponseSchema,
  type SlotService,
} from "../../../gen/shipments/admin/v1/slot_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { refuse } from "../../domain/refusal.ts";
import type { Calendar, Slot, Span } from "../../domain/schedule/calendar.ts";
import { MILLIGRAMS_PER_KG, unitOf } from "../../domain/schedule/slot-load.ts";
import { listSlots } from "../../domain/schedule/slots.ts";
import { compileToMessage, type RecordOf } from "../../json/records.ts";
import type { OperatorCall } from "../../pipeline/call.ts";
import { compileResponse } from "../../pipeline/rpc-response.ts";
import type { ServiceFunctions } from "../../pipeline/rpc.ts";
import { changesBetween, recordChange } from "../audit/record-change.ts";
import type { TariffCache } from "../tariffs/versions/tariff-cache.ts";
import { addition, slotId } from "./slots.ts";

export interface SlotDeps {
  readonly em: EntityManager;
  readonly tariffs: Pick<TariffCache, "inForce">;
  readonly now: () => Date;
}

const DEFAULT_DAYS = 7;

const PLACES = `
  select (extract(epoch from starts_at) * 1000)::float8 as "startMs",
    (extract(epoch from ends_at) * 1000)::float8 as "endMs", slot.capacity,
    slot.shipments, slot.milligrams::float8 as milligrams,
    coalesce(held.shipments, 0)::int as "heldShipments", coalesce(held.milligrams, 0)::float8 as "heldMilligrams"
  from slot left join lateral (
    select count(*) as shipments, sum(milligrams) as milligrams from slot_reservation
    where slot_id = slot.id and reference is null
  ) as held on true
  where schedule = $1 and twin_id is null and starts_at >= $2::timestamptz and starts_at <= $3::timestamptz`;

interface Places extends Span {
  readonly capacity: number | null;
  readonly shipments: number;
  readonly milligrams: number;
  readonly heldShipments: number;
  readonly heldMilligrams: number;
}

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
    const limited = listed.map(({ slot }) => slot).filter(({ capacity }) => capacity !== undefined);
    return respond({ data: await recordsOf(fork, calendar, limited), nextPageToken: "" });
  },

  async setSlotCapacity({ schedule, start, capacity }, call, { em, tariffs, now }) {
    const calendar = await findCalendar(em, schedule, tariffs);
    const startMs = timestampMs(start);
    const day = calendar.dayOf(startMs);
    const slot = day.slotAt.get(startMs) ?? calendar.day(day.number - 1).slotAt.get(startMs);
    if (slot?.capacity === undefined)
      throw notFoundError("The schedule has no slot with a capacity at this time.", "start");
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

async function findCalendar(em: EntityManager, name: string, tariffs: SlotDeps["tariffs"]): Promise<Calendar> {
  const { pricing } = await tariffs.inForce(em);
  const calendar = pricing.calendars?.find(({ schedule }) => schedule.name === name);
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
  const rows = await runStatement<Places>(em, PLACES, [calendar.schedule.name, first.start, last.start]);
  const places = new Map(rows.map((row) => [`${row.startMs} ${row.endMs}`, row]));
  const unit = unitOf(calendar);
  return slots.map((slot) => {
    const own = places.get(`${slot.startMs} ${slot.endMs}`) ?? NO_PLACES;
    const [taken, held] =
      unit === "shipments"
        ? [own.shipments, own.heldShipments]
        : [own.milligrams / MILLIGRAMS_PER_KG, own.heldMilligrams / MILLIGRAMS_PER_KG];
    const capacity = own.capacity ?? slot.capacity!;
    return {
      start: slot.startMs,
      end: slot.endMs,
      unit,
      capacity,
      setCapacity: own.capacity ?? undefined,
      booked: taken - held,
      held,
      remaining: Math.max(0, capacity - taken),
    };
  });
}

const NO_PLACES = { capacity: null, shipments: 0, milligrams: 0, heldShipments: 0, heldMilligrams: 0 };
