import { randomUUID } from "node:crypto";
import { fullWindow, type BookedWindow } from "../../domain/schedule/decide-windows.ts";
import { MINUTE_MS } from "../../domain/schedule/calendar.ts";
import { MAX_HORIZON_DAYS } from "../../domain/schedule/schedule.ts";
import { remainingOf, toMilligrams, unitOf } from "../../domain/schedule/slot-load.ts";
import { nextAvailable } from "../../domain/schedule/slots.ts";
import { Refusal } from "../../domain/refusal.ts";
import { type End, ENDS, type Ends } from "../../domain/route-ends.ts";
import type { Call } from "../../pipeline/call.ts";
import { type SlotHolder, slotId, type SlotKey, type SlotPlace, type SlotRequest, type Slots } from "../slots/slots.ts";
import { bookedWindows } from "./shipment-windows.ts";
import type { ShipmentRow } from "./shipment-row.ts";

type Caller = Pick<Call["caller"], "workspaceId" | "test">;

/** Places that a call needs in slots with a capacity, and places that it releases. */
export interface SlotClaim {
  readonly caller: Caller;
  readonly holder: Pick<SlotHolder, "reference" | "quoteId">;
  readonly weightKg: number;
  /** Windows whose slots need a place. */
  readonly windows: Ends<BookedWindow>;
  readonly leaving?: readonly SlotKey[];
  /** Time of the call, by the test clock of a test twin. */
  readonly at: Date;
  /** Time until the reservation must be confirmed, in seconds. Default: the longest duration of a transaction. */
  readonly heldSeconds?: number;
  /** Whether test mode fills the slots first. */
  readonly fills?: boolean | undefined;
}

/** Places to confirm and to release after the commit. */
export interface Settlement {
  readonly confirmed: readonly SlotPlace[];
  readonly released: readonly SlotPlace[];
}

type PlacedRow = Pick<ShipmentRow, "status" | "windows" | "weightKg">;

/** Returns the slots in which a shipment has a place. A cancelled shipment has none. */
export function slotsOf({ status, windows }: Pick<PlacedRow, "status" | "windows">, caller: Caller): SlotKey[] {
  if (status === "cancelled" || windows === null) return [];
  const booked = bookedWindows(windows);
  return ENDS.flatMap((end) => slotOfWindow(booked[end], caller) ?? []);
}

function slotOfWindow(window: BookedWindow | undefined, { workspaceId, test }: Caller): SlotKey | undefined {
  if (window?.slot === undefined) return undefined;
  const { startMs, endMs, slot } = window;
  return { twinId: test ? workspaceId : null, schedule: slot.schedule, startMs, endMs };
}

export function hasSlot({ pickup, dropoff }: Ends<BookedWindow>): boolean {
  return pickup?.slot !== undefined || dropoff?.slot !== undefined;
}

/**
 * Returns the claim of a change, or `undefined` if the shipment keeps its places.
 *
 * @param windows windows of the changed shipment with their current capacity. `undefined` if they stay the same
 */
export function claimOfChange(
  { caller, received }: Pick<Call, "caller" | "received">,
  before: PlacedRow,
  after: PlacedRow & SlotClaim["holder"],
  { windows, at }: { readonly windows: Ends<BookedWindow> | undefined; readonly at: Date },
): SlotClaim | undefined {
  if (before.windows === null && after.windows === null) return undefined;
  const had = slotsOf(before, caller);
  const kept = new Set(slotsOf(after, caller).map(slotId));
  const leaving = had.filter((slot) => !kept.has(slotId(slot)));
  const unchanged = new Set(before.weightKg === after.weightKg ? had.map(slotId) : []);
  const claimed = (end: End) => {
    const slot = slotOfWindow(windows?.[end], caller);
    return slot === undefined || unchanged.has(slotId(slot)) ? undefined : windows![end];
  };
  const claims = { pickup: claimed("pickup"), dropoff: claimed("dropoff") };
  if (leaving.length === 0 && !hasSlot(claims)) return undefined;
  const fills = received.simulation?.fillsSlots;
  return { caller, holder: after, weightKg: after.weightKg, windows: claims, leaving, at, fills };
}

/**
 * Reserves the places of several calls in one round trip.
 *
 * @param now real time
 * @returns for each claim, the settlement after its commit, or a Refusal SLOT_FULL with the next free window
 */
export async function reserveSlots(
  slots: Slots,
  claims: readonly SlotClaim[],
  now: Date,
): Promise<(Settlement | Refusal)[]> {
  const all = claims.map((claim) => {
    const places = placesOf(claim);
    return { claim, ...places, requests: ENDS.flatMap((end) => requestOf(claim, end, places.own, now) ?? []) };
  });
  const outcomes = await slots.reserve(
    all.flatMap(({ requests }) => requests),
    all.flatMap(({ leaving }) => leaving),
  );
  const next = outcomes.values();
  const reserved = all.map(({ claim, leaving, requests }) => ({
    claim,
    leaving,
    requests: requests.map((request) => ({ ...request, ...next.next().value! })),
  }));
  const isRefused = ({ requests }: (typeof reserved)[number]) => requests.some(({ isReserved }) => !isReserved);
  // A call that is refused for one slot releases its new place in the other slot and keeps its earlier places.
  const refused = reserved.filter(isRefused);
  const undone = refused.flatMap(({ requests }) => requests.filter(({ isReserved }) => isReserved));
  const kept = refused.flatMap(({ leaving: places }) => places);
  if (undone.length + kept.length > 0) await slots.undo(undone, kept);
  return Promise.all(
    reserved.map(async (each) =>
      isRefused(each)
        ? fullError(slots, each.claim, each.requests)
        : { confirmed: each.requests, released: each.leaving },
    ),
  );
}

function placesOf({ caller, holder, leaving = [] }: SlotClaim) {
  const { reference, quoteId } = holder;
  const own = { workspace: caller.workspaceId, reference, quoteId, attempt: randomUUID() };
  return { own, leaving: leaving.map((slot): SlotPlace => ({ ...own, slot })) };
}

type EndRequest = SlotRequest & { readonly end: End };

function requestOf(
  { caller, weightKg, windows, heldSeconds, fills = false }: SlotClaim,
  end: End,
  own: Omit<SlotPlace, "slot">,
  now: Date,
): EndRequest | undefined {
  const slot = slotOfWindow(windows[end], caller);
  if (slot === undefined) return undefined;
  const { calendar, capacity = null } = windows[end]!.slot!;
  const minutes = calendar?.schedule.capacity?.payWithinMinutes;
  return {
    ...own,
    end,
    slot,
    capacity,
    unit: unitOf(calendar),
    milligrams: toMilligrams(weightKg),
    payBy: minutes === undefined ? null : new Date(now.getTime() + minutes * MINUTE_MS),
    ...(heldSeconds !== undefined && { heldSeconds }),
    fills,
  };
}

/** Upper bound for the time until the last bookable slot, in milliseconds. */
const HORIZON_MS = (MAX_HORIZON_DAYS + 2) * 24 * 60 * MINUTE_MS;

async function fullError(
  slots: Slots,
  { windows, weightKg, at }: SlotClaim,
  requests: readonly (EndRequest & { readonly isReserved: boolean })[],
): Promise<Refusal> {
  const full = await Promise.all(
    requests
      .filter(({ isReserved }) => !isReserved)
      .map(async ({ end, slot, unit }) => {
        const window = windows[end]!;
        const { calendar } = window.slot!;
        if (calendar === undefined) return fullWindow(end, undefined);
        const loadOf = await slots.loads(slot, { startMs: at.getTime(), endMs: at.getTime() + HORIZON_MS });
        const next = nextAvailable(calendar, window, at.getTime(), (other) => {
          return (
            other.capacity === undefined || remainingOf(loadOf(other), unit, other.capacity, weightKg)?.fits !== false
          );
        });
        return fullWindow(end, next);
      }),
  );
  const facts = Object.assign({}, ...full.map((each) => each.facts)) as Record<string, string>;
  return new Refusal(
    full.flatMap(({ violations }) => violations),
    { facts },
  );
}

/** Settles places after a commit. If that fails, the places are compared with the shipment later. */
export async function settleSlots(slots: Slots, settlement: Settlement | undefined): Promise<void> {
  if (settlement === undefined) return;
  await slots.settle(settlement.confirmed, settlement.released).catch(() => undefined);
}
