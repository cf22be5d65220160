import {
  ListPickupSlotsResponseSchema,
  type ListPickupSlotsRequestValid,
} from "../../../gen/shipments/v1/shipment_service_pb.js";
import { toMajor } from "../../domain/pricing/money.ts";
import { calendarsOf, quote, routeOf, withWindowFee, type CoveredQuote } from "../../domain/pricing/pricing.ts";
import { Refusal, refuse } from "../../domain/refusal.ts";
import { type Calendar, dayNumberOf } from "../../domain/schedule/calendar.ts";
import { listSlots, type DecidedSlot } from "../../domain/schedule/slots.ts";
import type { Call } from "../../pipeline/call.ts";
import { compileResponse } from "../../pipeline/rpc-response.ts";
import { timeOf } from "../workspaces/test-clock.ts";
import { coverageViolations } from "./check-booking.ts";
import type { ShipmentDeps } from "./shipment-deps.ts";

const respond = compileResponse(ListPickupSlotsResponseSchema);

const DEFAULT_DAYS = 7;

/**
 * Lists the pickup slots of a route from the schedule of the pickup's zone, with availability and
 * price. Makes no database calls.
 */
export function listPickupSlots(
  request: ListPickupSlotsRequestValid,
  call: Pick<Call, "testTime">,
  { tariffs, now }: Pick<ShipmentDeps, "tariffs" | "now">,
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
  return respond({
    data: slots.map((slot) => slotRecord(slot, priceOf(slot.decision.feeMinor))),
    nextPageToken: "",
    timeZone: pickup?.schedule.timeZone,
    slotMinutes: pickup?.schedule.slotMinutes,
    asSoonAsPossible: pickup?.schedule.asSoonAsPossible ?? true,
    currency: quoted.currency,
  });
}

/** @param date matches the pattern of the field, but may not exist */
function givenDay(date: string): number {
  const number = dayNumberOf(date);
  const isDate = new Date(number * 86_400_000).toISOString().startsWith(date);
  if (isDate) return number;
  throw refuse("FIELD_INVALID", "from_date must be an existing date.", {
    subject: "from_date",
  });
}

function slotRecord({ slot, decision }: DecidedSlot, price: number) {
  const { start, end, localStart, localEnd } = slot;
  const [violation] = decision.violations;
  return {
    start,
    end,
    localStart,
    localEnd,
    cutOffAt: decision.cutOffAtMs,
    available: violation === undefined,
    // Slots are within opening hours and have a valid length, so only the time can be a reason.
    unavailableReason: violation?.reason.toLowerCase(),
    price,
  };
}

/** Returns a function that caches prices by window fee, because many slots have the same fee. */
function createPrices(quoted: CoveredQuote): (feeMinor: number) => number {
  const known = new Map<number, number>();
  const priceOf = (feeMinor: number) => toMajor(withWindowFee(quoted, feeMinor).totalMinor, quoted.currency);
  return (feeMinor) => known.getOrInsertComputed(feeMinor, priceOf);
}
