import {
  ListPickupSlotsResponseSchema,
  type ListPickupSlotsRequestValid,
} from "../../../gen/shipments/v1/shipment_service_pb.js";
import { toMajor } from "../../domain/pricing/money.ts";
import {
  calendarsOf,
  quote,
  routeOf,
  withWindowFee,
  type CoveredQuote,
  type Route,
} from "../../domain/pricing/pricing.ts";
import { invalidField, Refusal } from "../../domain/refusal.ts";
import { type Calendar, dayNumberOf } from "../../domain/schedule/calendar.ts";
import { type Remaining, remainingOf, unitOf } from "../../domain/schedule/slot-load.ts";
import { listSlots, type DecidedSlot } from "../../domain/schedule/slots.ts";
import type { Call } from "../../pipeline/call.ts";
import { compileResponse } from "../../pipeline/rpc-response.ts";
import { timeOf } from "../workspaces/test-clock.ts";
import type { Slots } from "../slots/slots.ts";
import { coverageViolations } from "./check-booking.ts";
import type { ShipmentDeps } from "./shipment-deps.ts";

const respond = compileResponse(ListPickupSlotsResponseSchema);

const DEFAULT_DAYS = 7;

/**
 * Lists the pickup slots of a route from the schedule of the pickup's zone, with availability and
 * price. Makes no database calls if no slot has a capacity.
 */
export function listPickupSlots(
  request: ListPickupSlotsRequestValid,
  call: Pick<Call, "testTime" | "caller">,
  { tariffs, slots: counters, now }: Pick<ShipmentDeps, "tariffs" | "slots" | "now">,
) {
  const { pricing } = tariffs.current();
  const route = routeOf(request);
  const quoted = quote(pricing, route);
  if (!quoted.covered) throw new Refusal(coverageViolations(quoted));
  const fromDay = request.fromDate === undefined ? undefined : givenDay(request.fromDate);
  const { pickup } = calendarsOf(pricing, route);
  const nowMs = timeOf(call, now).getTime();
  const dates = (calendar: Calendar) => ({
    fromDay: fromDay ?? calendar.dayOf(nowMs).number,
    days: request.days ?? DEFAULT_DAYS,
  });
  const slots = pickup === undefined ? [] : listSlots(pickup, dates(pickup), nowMs);
  const priceOf = createPrices(quoted);
  const answer = (remainingIn: RemainingIn, isLimited = false) =>
    respond({
      data: slots.map((slot) => slotRecord(slot, priceOf(slot.decision.feeMinor), remainingIn(slot))),
      nextPageToken: "",
      timeZone: pickup?.schedule.timeZone,
      slotMinutes: pickup?.schedule.slotMinutes,
      asSoonAsPossible: pickup?.schedule.asSoonAsPossible ?? true,
      currency: quoted.currency,
      capacityUnit: isLimited ? unitOf(pickup) : undefined,
    });
  const limited = slots.filter(({ decision }) => decision.capacity !== undefined);
  if (limited.length === 0) return answer(() => undefined);
  return loadRemaining(counters, { calendar: pickup!, limited, route, call }).then((remainingIn) =>
    answer(remainingIn, true),
  );
}

type RemainingIn = (slot: DecidedSlot) => Remaining | undefined;

/** Loads the remaining capacity of limited slots, which are in order. */
async function loadRemaining(
  counters: Slots,
  listed: {
    readonly calendar: Calendar;
    readonly limited: readonly DecidedSlot[];
    readonly route: Route;
    readonly call: Pick<Call, "caller">;
  },
): Promise<RemainingIn> {
  const { calendar, limited, route, call } = listed;
  const { test, workspaceId } = call.caller;
  const key = { schedule: calendar.schedule.name, twinId: test ? workspaceId : null };
  const span = { startMs: limited[0]!.slot.startMs, endMs: limited.at(-1)!.slot.endMs };
  const loadOf = await counters.loads(key, span);
  return ({ slot, decision: { capacity } }) =>
    capacity === undefined ? undefined : remainingOf(loadOf(slot), unitOf(calendar), capacity, route.weightKg);
}

/** @param date matches the pattern of the field, but may not exist */
function givenDay(date: string): number {
  const number = dayNumberOf(date);
  const isDate = new Date(number * 86_400_000).toISOString().startsWith(date);
  if (isDate) return number;
  throw invalidField("from_date", "must be an existing date.");
}

/** Maximum remaining capacity that is shown. */
const MAX_REMAINING = 10;

function slotRecord({ slot, decision }: DecidedSlot, price: number, load: Remaining | undefined) {
  const { start, end, localStart, localEnd } = slot;
  const [violation] = decision.violations;
  return {
    start,
    end,
    localStart,
    localEnd,
    cutOffAt: decision.cutOffAtMs,
    available: violation === undefined && load?.fits !== false,
    // Slots are within opening hours and have a valid length, so only the time and the capacity can be a reason.
    unavailableReason: violation?.reason.toLowerCase() ?? (load?.fits === false ? "full" : undefined),
    price,
    limited: load !== undefined,
    remaining: load !== undefined && load.remaining <= MAX_REMAINING ? load.remaining : undefined,
  };
}

/** Returns a function that caches prices by window fee, because many slots have the same fee. */
function createPrices(quoted: CoveredQuote): (feeMinor: number) => number {
  const known = new Map<number, number>();
  const priceOf = (feeMinor: number) => toMajor(withWindowFee(quoted, feeMinor).totalMinor, quoted.currency);
  return (feeMinor) => known.getOrInsertComputed(feeMinor, priceOf);
}
