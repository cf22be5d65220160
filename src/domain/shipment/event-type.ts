import { isDeepStrictEqual } from "node:util";
import { ENDS } from "../route-ends.ts";
import { type Courier, type DeliveryProgress, NO_PROGRESS } from "./delivery-progress.ts";
import { NO_PAYMENT_DETAILS, type PaymentDetails } from "./payment-details.ts";
import type { ShipmentState } from "./shipment-state.ts";

export const EVENT_TYPES = [
  "shipment.created",
  "shipment.updated",
  "shipment.checkout_opened",
  "shipment.payment_processing",
  "shipment.payment_failed",
  "shipment.paid",
  "shipment.awaiting_pickup",
  "shipment.courier_assigned",
  "shipment.eta_changed",
  "shipment.at_pickup",
  "shipment.in_transit",
  "shipment.at_dropoff",
  "shipment.attempt_failed",
  "shipment.proof_recorded",
  "shipment.delivered",
  "shipment.returned",
  "shipment.cancelled",
  "shipment.refunded",
  "shipment.partly_refunded",
  "shipment.refund_failed",
  "shipment.dispute_opened",
  "shipment.dispute_closed",
  "webhook.disabled",
  "webhook.test",
] as const;

export type EventType = (typeof EVENT_TYPES)[number];

/** Parts of a shipment that determine its events. */
export interface EventfulState extends ShipmentState {
  /** null before the first report from the payment provider. */
  readonly paymentDetails?: PaymentDetails | null;
  /** null before the first report from the courier. */
  readonly progress?: DeliveryProgress | null;
}

/**
 * Returns the events for a change from one state to another, in order. Empty only for small ETA
 * changes, wrong PINs, and assignments with the same courier and position.
 */
export function shipmentEventTypes(before: EventfulState, after: EventfulState): EventType[] {
  const types = progressEventTypes(
    before.progress ?? NO_PROGRESS,
    after.progress ?? NO_PROGRESS,
    after.status === before.status,
  );
  if (!isSettled(before) && isSettled(after)) types.push("shipment.paid");
  if (after.status !== before.status && after.status !== "pending") {
    types.push(`shipment.${after.status}`);
  }
  const isRefunded = before.paymentStatus !== "refunded" && after.paymentStatus === "refunded";
  if (isRefunded) types.push("shipment.refunded");
  types.push(
    ...detailEventTypes(before.paymentDetails, after.paymentDetails).filter(
      (type) => !(isRefunded && type === "shipment.partly_refunded"),
    ),
  );
  return types.length > 0 || isUnannounced(before, after) ? types : ["shipment.updated"];
}

/**
 * Returns the events for a courier's report, in order.
 *
 * @param isSameStatus whether the status is unchanged. Otherwise the courier left an end because of the new status,
 * which causes no separate event
 */
function progressEventTypes(before: DeliveryProgress, after: DeliveryProgress, isSameStatus: boolean): EventType[] {
  const { courier, arrivedAt } = after;
  const hasFailed = after.attempts.length > before.attempts.length;
  const hasArrived = arrivedAt !== null && arrivedAt !== before.arrivedAt;
  const hasLeft = arrivedAt === null && before.arrivedAt !== null;
  const isStageTakenBack = hasLeft && isSameStatus && !hasFailed;
  const happened: Partial<Record<EventType, boolean>> = {
    "shipment.courier_assigned": !isSameAssignment(courier, before.courier) || isStageTakenBack,
    "shipment.eta_changed": ENDS.some((end) => {
      const eta = after.announcedEtas[end];
      return eta !== null && eta !== before.announcedEtas[end];
    }),
    "shipment.at_pickup": hasArrived && arrivedAt === "pickup",
    "shipment.at_dropoff": hasArrived && arrivedAt === "dropoff",
    "shipment.attempt_failed": hasFailed,
    "shipment.proof_recorded":
      after.proof !== undefined && after.proof !== before.proof && !hasFailed && !isTakenBack(before, after),
  };
  return EVENT_TYPES.filter((type) => happened[type]);
}

/** Whether a verified PIN or a waiver was discarded because the required verification changed. */
function isTakenBack({ proof: before }: DeliveryProgress, { proof: after }: DeliveryProgress) {
  return (["pinVerified", "waived"] as const).some((kind) => before?.[kind] && !after?.[kind]);
}

/**
 * Whether a change that causes no other event needs none: a change of ETAs, of the number of wrong PINs, or of the time
 * of an assignment.
 */
function isUnannounced(from: EventfulState, to: EventfulState): boolean {
  const [before, after] = [from.progress ?? NO_PROGRESS, to.progress ?? NO_PROGRESS];
  if (!isSameAssignment(before.courier, after.courier) || before.arrivedAt !== after.arrivedAt) return false;
  const hasNewTime = before.courier !== after.courier;
  const hasWrongPin = (before.wrongPins ?? 0) < (after.wrongPins ?? 0);
  return hasNewTime || before.etas !== after.etas || hasWrongPin;
}

/** Whether two assignments are equal, ignoring the time at which the position was given. */
function isSameAssignment(one: Courier | null, other: Courier | null): boolean {
  return isDeepStrictEqual({ ...one, sequencedAtMs: 0 }, { ...other, sequencedAtMs: 0 });
}

/** Whether money was received, even after a cancellation. */
function isSettled({ paymentStatus }: ShipmentState): boolean {
  return paymentStatus !== "awaiting_payment" && paymentStatus !== "voided";
}

/** Returns the events for a change of payment details, in order. */
function detailEventTypes(
  previous: PaymentDetails | null | undefined,
  now: PaymentDetails | null | undefined,
): EventType[] {
  const before = previous ?? NO_PAYMENT_DETAILS;
  const after = now ?? NO_PAYMENT_DETAILS;
  const happened: Partial<Record<EventType, boolean>> = {
    "shipment.checkout_opened": after.checkout !== null && after.checkout.url !== before.checkout?.url,
    "shipment.payment_processing": after.processing && !before.processing,
    "shipment.payment_failed": after.error !== null && after.error !== before.error,
    "shipment.partly_refunded": after.refundedMinor !== before.refundedMinor,
    "shipment.refund_failed": after.refundError !== null && after.refundError !== before.refundError,
    "shipment.dispute_opened": after.dispute === "open" && before.dispute !== "open",
    "shipment.dispute_closed": after.dispute !== null && after.dispute !== "open" && after.dispute !== before.dispute,
  };
  return EVENT_TYPES.filter((type) => happened[type]);
}
