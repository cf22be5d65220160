import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  ListPickupSlotsResponseSchema,
  type ListPickupSlotsRequestValid,
  type ListPickupSlotsResponse,
} from "../../../gen/shipments/v1/shipment_service_pb.js";
import { SlotUnavailableReason } from "../../../gen/shipments/v1/window_pb.js";
import { toMajor } from "../../domain/pricing/money.ts";
import {
  calendarsOf,
  quote,
  routeOf,
  withWindowFee,
  type CoveredQuote,
} from "../../domain/pricing/pricing.ts";
import { Refusal, refuse } from "../../domain/refusal.ts";
import { dayNumberOf, type Calendar } from "../../domain/schedule/calendar.ts";
import type { WindowDecision, WindowRefusalReason } from "../../domain/schedule/decide-window.ts";
import { listSlots, type DecidedSlot } from "../../domain/schedule/slots.ts";
import type { Call } from "../../pipeline/call.ts";
import { LazyResponse } from "../../pipeline/rpc-response.ts";
import { timeOf } from "../workspaces/test-clock.ts";
import { coverageViolations } from "./check-booking.ts";
import type { QuoteDeps } from "./quote-shipment.ts";

/** How many dates are listed unless the request says. */
const DEFAULT_DAYS = 7;

/**
 * Lists the pickup windows that the schedule of the pickup's zone offers for a route, each with whether it
 * can be booked and what the shipment then costs, without the database.
 *
 * @throws Refusal ROUTE_NOT_COVERED, WEIGHT_NOT_SERVED; FIELD_INVALID for a date that there is not;
 *   UNAVAILABLE while no tariff has been published
 */
export function listPickupSlots(
  request: ListPickupSlotsRequestValid,
  call: Pick<Call, "testTime">,
  { tariffs, now }: QuoteDeps,
): LazyResponse<ListPickupSlotsResponse> {
  const { pricing } = tariffs.current();
  const route = routeOf(request);
  const quoted = quote(pricing, route);
  if (!quoted.covered) throw new Refusal(coverageViolations(quoted));
  const given = request.fromDate === undefined ? undefined : givenDay(request.fromDate);
  const { pickup } = calendarsOf(pricing, route);
  const nowMs = timeOf(call, now).getTime();
  const dates = (calendar: Calendar) => ({
    fromDay: given ?? calendar.dayOf(nowMs).number,
    days: request.days ?? DEFAULT_DAYS,
  });
  const slots = pickup === undefined ? [] : listSlots(pickup, dates(pickup), nowMs);
  return new LazyResponse(
    () => slotsMessage(slots, pickup, quoted),
    () => slotsJson(slots, pickup, quoted),
  );
}

/** The number of a date that the pattern of the field has let through. */
function givenDay(date: string): number {
  const number = dayNumberOf(date);
  const isDate = new Date(number * 86_400_000).toISOString().startsWith(date);
  if (isDate) return number;
  throw refuse("FIELD_INVALID", "from_date must be a date that there is.", {
    subject: "from_date",
  });
}

/** A slot is within the hours and of a good length, so that only its time can be wrong. */
const UNAVAILABLE = {
  CUT_OFF_PASSED: ["cut_off_passed", SlotUnavailableReason.CUT_OFF_PASSED],
  TOO_SOON: ["too_soon", SlotUnavailableReason.TOO_SOON],
  TOO_FAR_AHEAD: ["too_far_ahead", SlotUnavailableReason.TOO_FAR_AHEAD],
} as const satisfies Partial<Record<WindowRefusalReason, unknown>>;

function unavailableReason({ faults: [fault] }: WindowDecision) {
  return fault && UNAVAILABLE[fault.reason as keyof typeof UNAVAILABLE];
}

function slotsMessage(
  slots: readonly DecidedSlot[],
  calendar: Calendar | undefined,
  quoted: CoveredQuote,
): ListPickupSlotsResponse {
  const priceOf = createPrices(quoted);
  return create(ListPickupSlotsResponseSchema, {
    data: slots.map(({ slot, decision }) => ({
      start: timestampFromMs(slot.startMs),
      end: timestampFromMs(slot.endMs),
      localStart: slot.localStart,
      localEnd: slot.localEnd,
      ...(decision.cutOffAtMs === undefined
        ? {}
        : { cutOffAt: timestampFromMs(decision.cutOffAtMs) }),
      available: decision.faults.length === 0,
      unavailableReason: unavailableReason(decision)?.[1],
      price: priceOf(decision.feeMinor),
    })),
    timeZone: calendar?.schedule.timeZone,
    slotMinutes: calendar?.schedule.slotMinutes,
    asSoonAsPossible: calendar?.schedule.asSoonAsPossible ?? true,
    currency: quoted.currency,
  });
}

/** The same as the JSON dialect of `/v1` writes it, at a third of the cost. */
function slotsJson(
  slots: readonly DecidedSlot[],
  calendar: Calendar | undefined,
  quoted: CoveredQuote,
) {
  const priceOf = createPrices(quoted);
  const cutOffText = remember((ms) => new Date(ms).toISOString());
  return {
    data: slots.map(({ slot, decision }) => ({
      start: slot.start,
      end: slot.end,
      local_start: slot.localStart,
      local_end: slot.localEnd,
      cut_off_at: decision.cutOffAtMs === undefined ? null : cutOffText(decision.cutOffAtMs),
      available: decision.faults.length === 0,
      unavailable_reason: unavailableReason(decision)?.[0] ?? null,
      price: priceOf(decision.feeMinor),
    })),
    next_page_token: "",
    time_zone: calendar?.schedule.timeZone ?? null,
    slot_minutes: calendar?.schedule.slotMinutes ?? null,
    as_soon_as_possible: calendar?.schedule.asSoonAsPossible ?? true,
    currency: quoted.currency,
  };
}

/** What a shipment costs by the fee of its window. */
function createPrices(quoted: CoveredQuote): (feeMinor: number) => number {
  return remember((feeMinor) =>
    toMajor(withWindowFee(quoted, feeMinor).totalMinor, quoted.currency),
  );
}

/** Many slots have one fee, and one cut-off. */
function remember<Value>(valueOf: (key: number) => Value): (key: number) => Value {
  const known = new Map<number, Value>();
  return (key) => known.getOrInsertComputed(key, valueOf);
}
