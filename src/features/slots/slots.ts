import type { EntityManager } from "../../db/orm.ts";
import { deleteOldest, runStatement } from "../../db/statement.ts";
import type { Statement } from "../../db/statement-batch.ts";
import { inBatches } from "../../db/transaction.ts";
import type { Span } from "../../domain/schedule/calendar.ts";
import type { CapacityUnit } from "../../domain/schedule/schedule.ts";
import type { SlotLoad } from "../../domain/schedule/slot-load.ts";

export interface SlotKey extends Span {
  /** Test twin whose slot it is. null for live workspaces. */
  readonly twinId: number | null;
  readonly schedule: string;
}

export function slotId({ twinId, startMs, endMs, schedule }: SlotKey): string {
  return `${twinId ?? "live"} ${startMs} ${endMs} ${schedule}`;
}

/** Holder of reservations: a quote, a shipment, or both. */
export interface SlotHolder {
  readonly workspace: number;
  readonly reference: string | null;
  readonly quoteId: string | null;
}

/** A place that a call reserves, keeps or releases. */
export interface SlotPlace extends SlotHolder {
  readonly slot: SlotKey;
  /** Identifies the call, so that another call for the same holder is not undone. */
  readonly attempt: string;
  /** Whether the shipment is known to be paid. Its reservation is then not compared at the end of the time to pay. */
  readonly isPaid?: boolean;
}

export interface SlotRequest extends SlotPlace {
  /** Capacity according to the tariff. null for unlimited. */
  readonly capacity: number | null;
  readonly unit: CapacityUnit;
  readonly milligrams: number;
  /** Time after which an unpaid shipment is cancelled, if any. */
  readonly payBy: Date | null;
  /** Time until the reservation must be confirmed, in seconds. */
  readonly heldSeconds?: number;
  /** Whether the slot is filled first, to simulate a full slot in test mode. */
  readonly fills?: boolean;
}

interface Reserved {
  /** False if the slot is full. */
  readonly isReserved: boolean;
  /** Whether the holder had no place in the slot before. */
  readonly isNew: boolean;
  /** Whether the holder had no place before, except a place held by its quote. */
  readonly isUnbooked: boolean;
  /** Whether this reservation filled the slot, so that less than one shipment or kilogram remains. */
  readonly isFilled: boolean;
  /** Weight of the holder's earlier place, or 0. */
  readonly heldMilligrams: number;
}

export const PLACE_OUTCOMES = ["booked", "held", "refused"] as const;

/** Called with the outcome of each reservation in a live slot, and once each time a live slot becomes full. */
export type ObserveSlot = (outcome: (typeof PLACE_OUTCOMES)[number] | "filled", slot: SlotKey) => void;

/**
 * Time after which a reservation is compared with its shipment, in seconds. Longer than any transaction, because each
 * statement and each pause between statements takes at most 5 seconds.
 */
const PENDING_SECONDS = 60;

const ADD_SLOT = `
  insert into slot (id, twin_id, schedule, starts_at, ends_at) values ($1, $2, $3, $4, $5)
  on conflict (id) do nothing`;

/** Locks a counter first, so that the statements that follow see all earlier reservations. */
const LOCK = "select from slot where id = $1 for update";

/**
 * Reserves a place, or changes the weight of a reserved place. Increments the counter only if the capacity allows it. A
 * booking with a quote does not shorten the hold of the quote, because the booking can fail. `CONFIRM` sets the
 * reference after the commit.
 */
const RESERVE = `
  with held as (
    select count(*)::int as shipments, coalesce(sum(milligrams), 0)::bigint as milligrams, count(reference) as booked
    from slot_reservation where slot_id = $1 and holder = $2
  ), counted as (
    update slot
    set shipments = slot.shipments + 1 - held.shipments,
      milligrams = slot.milligrams + $3::bigint - held.milligrams
    from held
    where id = $1 and coalesce(
      case when $4 = 'kilograms'
        then $3::bigint <= held.milligrams
          or slot.milligrams + $3::bigint - held.milligrams <= coalesce(slot.capacity, $5::int) * 1000000::bigint
        else held.shipments = 1 or slot.shipments < coalesce(slot.capacity, $5::int)
      end, true)
    returning coalesce(
      case when $4 = 'kilograms'
        then slot.milligrams > (coalesce(slot.capacity, $5::int) - 1) * 1000000::bigint
          and slot.milligrams - $3::bigint + held.milligrams <= (coalesce(slot.capacity, $5::int) - 1) * 1000000::bigint
        else held.shipments = 0 and slot.shipments = coalesce(slot.capacity, $5::int)
      end, false) as is_filled, coalesce(slot.capacity, $5::int) is not null as is_limited
  ), reserved as (
    insert into slot_reservation
      (slot_id, holder, workspace_id, reference, milligrams, attempt, pay_by, check_at)
    select $1, $2, $6::bigint, $7::text, $3::bigint, $8::uuid,
      least(
        (select min(pay_by) from slot_reservation where holder = $2 and reference is not null),
        case when is_limited then $9::timestamptz end),
      now() + $10::int * interval '1 s'
    from counted
    on conflict (slot_id, holder) do update
    set reference = case when excluded.reference is not null then slot_reservation.reference end,
      milligrams = excluded.milligrams, attempt = excluded.attempt, pay_by = excluded.pay_by,
      check_at = case when slot_reservation.reference is null
        then greatest(slot_reservation.check_at, excluded.check_at) else excluded.check_at end
  )
  select is_filled is not null as "isReserved", is_filled is not null and shipments = 0 as "isNew",
    booked = 0 as "isUnbooked", coalesce(is_filled, false) as "isFilled", milligrams::float8 as "heldMilligrams"
  from held left join counted on true`;

const FILL = "update slot set capacity = 0 where id = $1";

/** Schedules the comparison of a reservation that is about to be released. */
const WATCH = `
  update slot_reservation set attempt = $3, check_at = now() + interval '${PENDING_SECONDS} s'
  where slot_id = $1 and holder = $2`;

/**
 * Confirms a reservation of a committed shipment. If the time to pay is limited, the next comparison is due at its end.
 * The end can be in the past, because a shipment can be changed while its payment is processing.
 */
const CONFIRM = `
  update slot_reservation set check_at = case when not $5::boolean then pay_by end, reference = $4
  where slot_id = $1 and holder = $2 and attempt = $3`;

const RELEASE = `
  with released as (
    delete from slot_reservation where slot_id = $1 and holder = $2 and attempt = $3 returning milligrams
  )
  update slot set shipments = shipments - 1, milligrams = slot.milligrams - released.milligrams
  from released where id = $1`;

const CORRECT = `
  with corrected as (
    update slot_reservation set milligrams = $5::bigint
    where slot_id = $1 and holder = $2 and attempt = $3 and milligrams = $4::bigint
    returning 1
  )
  update slot set milligrams = milligrams + $5::bigint - $4::bigint
  where id = $1 and exists (select from corrected)`;

const EMPTY_TWIN = "update slot set capacity = null where twin_id = $1 and capacity is not null";

/** Schedules the comparison of all reservations of a test twin, because its shipments were deleted. */
const WATCH_TWIN = `
  update slot_reservation set check_at = now() where slot_id in (select id from slot where twin_id = $1)`;

const COUNT_HOLDS = `
  select count(distinct holder)::int as count from slot_reservation
  where workspace_id = $1 and reference is null and holder <> $2
    and check_at > now() and check_at <= now() + interval '1 hour'`;

const LOAD = `
  schedule, (extract(epoch from starts_at) * 1000)::float8 as "startMs",
  (extract(epoch from ends_at) * 1000)::float8 as "endMs",
  slot.shipments, slot.milligrams::float8 as milligrams, slot.capacity`;

const IN_SCHEDULE = `
  where schedule = $1 and twin_id is not distinct from $2::bigint
    and starts_at >= $3::timestamptz and starts_at < $4::timestamptz`;

const LOADS = `select ${LOAD} from slot ${IN_SCHEDULE}`;

const PLACES = `
  select ${LOAD},
    coalesce(held.shipments, 0)::int as "heldShipments", coalesce(held.milligrams, 0)::float8 as "heldMilligrams"
  from slot left join lateral (
    select count(*) as shipments, sum(milligrams) as milligrams from slot_reservation
    where slot_id = slot.id and reference is null
  ) as held on true ${IN_SCHEDULE}`;

const LIVE_LOADS = `
  select ${LOAD} from slot
  where twin_id is null and starts_at >= $1::timestamptz and starts_at < $2::timestamptz
  order by starts_at, schedule`;

interface ScheduleLoad extends SlotLoad, Span {
  readonly schedule: string;
}

/** Booked and held places of a slot. */
export interface SlotPlaces extends SlotLoad {
  readonly heldShipments: number;
  readonly heldMilligrams: number;
}

type ScheduleKey = Omit<SlotKey, keyof Span>;

function spanTexts({ startMs, endMs }: Span): string[] {
  return [startMs, endMs].map((ms) => new Date(ms).toISOString());
}

export type Slots = ReturnType<typeof createSlots>;

/**
 * Creates the store of reserved places. Its statements are part of the transaction of `em`. If `em` has none, each
 * function runs in one round trip and one transaction.
 */
export function createSlots(em: EntityManager, observe?: ObserveSlot) {
  /** Sends statements. Locks counters in order to avoid deadlocks. */
  const send = async <Row>(counters: readonly SlotKey[], add: boolean, statements: readonly Statement[]) => {
    const slots = [...new Map(counters.map((slot) => [slotId(slot), slot]))].toSorted(([a], [b]) => (a < b ? -1 : 1));
    const locks = slots.flatMap(([id, slot]): Statement[] => [...(add ? [addition(id, slot)] : []), [LOCK, [id]]]);
    const all = [...locks, ...statements];
    const rows = em.isInTransaction()
      ? await Array.fromAsync(all, ([sql, values]) => runStatement<Row>(em, sql, values))
      : await inBatches(em, (sendOne) => Promise.all(all.map(([sql, values]) => sendOne<Row>(sql, values))));
    return rows.slice(locks.length);
  };
  const load = async <Row>(sql: string, { schedule, twinId }: ScheduleKey, span: Span) => {
    const rows = await runStatement<Row & Span>(em, sql, [schedule, twinId, ...spanTexts(span)]);
    const loads = new Map(rows.map((row) => [`${row.startMs} ${row.endMs}`, row]));
    return ({ startMs, endMs }: Span): Row | undefined => loads.get(`${startMs} ${endMs}`);
  };
  return {
    /**
     * Reserves places, and schedules the comparison of places that will be released.
     *
     * @returns the outcomes, in the order of the requests
     */
    async reserve(requests: readonly SlotRequest[], leaving: readonly SlotPlace[] = []): Promise<Reserved[]> {
      const slots = requests.map(({ slot }) => slot);
      const filled = requests.filter(({ fills }) => fills).map(({ slot }): Statement => [FILL, [slotId(slot)]]);
      const rows = await send<Reserved>(slots, true, [
        ...filled,
        ...requests.map(reservation),
        ...leaving.map((place): Statement => [WATCH, keyOf(place)]),
      ]);
      const reserved = requests.map((_, i) => rows[filled.length + i]![0]!);
      requests.forEach(({ slot, reference }, i) => {
        if (slot.twinId !== null) return;
        const { isReserved, isNew, isUnbooked, isFilled } = reserved[i]!;
        if (!isReserved) observe?.("refused", slot);
        else if (reference === null ? isNew : isUnbooked) observe?.(reference === null ? "held" : "booked", slot);
        if (isFilled) observe?.("filled", slot);
      });
      return reserved;
    },
    /** Releases the new places of a refused call, and restores its earlier places. */
    async undo(reservations: readonly (SlotRequest & Reserved)[], kept: readonly SlotPlace[]): Promise<void> {
      const slots = reservations.map(({ slot }) => slot);
      await send(slots, false, [...reservations.map(undoing), ...kept.map(confirmation)]);
    },
    /** Returns a store whose statements are part of a transaction. */
    within: (tx: EntityManager) => createSlots(tx, observe),
    /** Confirms places of committed shipments, and releases others. Ignores places that a later call has changed. */
    async settle(confirmed: readonly SlotPlace[], released: readonly SlotPlace[]): Promise<void> {
      const slots = released.map(({ slot }) => slot);
      await send(slots, false, [
        ...confirmed.map(confirmation),
        ...released.map((place): Statement => [RELEASE, keyOf(place)]),
      ]);
    },
    /** Repeats the comparison of a place later. */
    async postpone(place: SlotPlace): Promise<void> {
      await send([], false, [[WATCH, keyOf(place)]]);
    },
    /** Corrects the weight of a place. */
    async correct(place: SlotPlace, from: number, to: number): Promise<void> {
      await send([place.slot], false, [[CORRECT, [...keyOf(place), from, to]]]);
    },
    /** Loads the reserved places of slots that start in a time span. Returns a lookup, `undefined` for empty slots. */
    loads: (key: ScheduleKey, span: Span) => load<SlotLoad>(LOADS, key, span),
    /** Like `loads`, with the places that quotes hold. */
    places: (key: ScheduleKey, span: Span) => load<SlotPlaces>(PLACES, key, span),
    /** Loads the reserved places of all live slots that start in a time span, in order. */
    liveLoads: (span: Span) => runStatement<ScheduleLoad>(em, LIVE_LOADS, spanTexts(span)),
  };
}

function holderOf({ quoteId, reference }: SlotHolder): string {
  return (quoteId ?? reference)!;
}

function keyOf(place: SlotPlace): unknown[] {
  return [slotId(place.slot), holderOf(place), place.attempt];
}

/** Returns the statement that adds a counter if it is missing. */
export function addition(id: string, { twinId, schedule, startMs, endMs }: SlotKey): Statement {
  return [ADD_SLOT, [id, twinId, schedule, new Date(startMs).toISOString(), new Date(endMs).toISOString()]];
}

function confirmation(place: SlotPlace): Statement {
  return [CONFIRM, [...keyOf(place), place.reference, place.isPaid ?? false]];
}

function undoing({ isNew, milligrams, heldMilligrams, ...place }: SlotRequest & Reserved): Statement {
  return isNew ? [RELEASE, keyOf(place)] : [CORRECT, [...keyOf(place), milligrams, heldMilligrams]];
}

function reservation(request: SlotRequest): Statement {
  const { slot, milligrams, unit, capacity, workspace, reference, attempt } = request;
  const { payBy, heldSeconds = PENDING_SECONDS } = request;
  const counted = [slotId(slot), holderOf(request), milligrams, unit, capacity];
  return [RESERVE, [...counted, workspace, reference, attempt, payBy?.toISOString() ?? null, heldSeconds]];
}

/** Counts the quotes of a workspace that hold places, except one. A quote is valid for up to an hour. */
export async function countHolds(em: EntityManager, workspace: number, except: string): Promise<number> {
  const [row] = await runStatement<{ count: number }>(em, COUNT_HOLDS, [workspace, except]);
  return row!.count;
}

/** Schedules the release of the places of a test twin whose shipments were deleted, and ends simulated fills. */
export async function watchTwin(em: EntityManager, twin: number): Promise<void> {
  await runStatement(em, WATCH_TWIN, [twin]);
  await runStatement(em, EMPTY_TWIN, [twin]);
}

/** Retention of a counter after the start of its slot. Longer than the maximum lag of a test clock. */
const KEPT_DAYS = 40;

/** Deletes the counters of past slots, with their reservations. Returns the number of deleted counters. */
export function purgeSlots(em: EntityManager): Promise<number> {
  return deleteOldest(em, "slot", "starts_at", `now() - interval '${KEPT_DAYS} days'`, []);
}
