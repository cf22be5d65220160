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
  "shipment.in_transit",
  "shipment.delivered",
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

/** What of a shipment tells what happened to it. */
export interface EventfulState extends ShipmentState {
  /** Null while no payment provider has said anything of it. */
  readonly paymentDetails?: PaymentDetails | null;
}

/**
 * What happened to a shipment that changed from one state to another, in order: at least one thing.
 * `before` is undefined for a shipment that has just been booked.
 */
export function shipmentEventTypes(
  before: EventfulState | undefined,
  after: EventfulState,
): EventType[] {
  if (before === undefined) return ["shipment.created"];
  const types: EventType[] = [];
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
  return types.length === 0 ? ["shipment.updated"] : types;
}

/** Whether money was received, be it after the cancellation. */
function isSettled({ paymentStatus }: ShipmentState): boolean {
  return paymentStatus !== "awaiting_payment" && paymentStatus !== "voided";
}

/** What happened at the payment provider, in order. */
function detailEventTypes(
  given: PaymentDetails | null | undefined,
  now: PaymentDetails | null | undefined,
): EventType[] {
  const before = given ?? NO_PAYMENT_DETAILS;
  const after = now ?? NO_PAYMENT_DETAILS;
  const happened: Partial<Record<EventType, boolean>> = {
    "shipment.checkout_opened":
      after.checkout !== null && after.checkout.url !== before.checkout?.url,
    "shipment.payment_processing": after.processing && !before.processing,
    "shipment.payment_failed": after.error !== null && after.error !== before.error,
    "shipment.partly_refunded": after.refundedMinor !== before.refundedMinor,
    "shipment.refund_failed":
      after.refundError !== null && after.refundError !== before.refundError,
    "shipment.dispute_opened": after.dispute === "open" && before.dispute !== "open",
    "shipment.dispute_closed":
      after.dispute !== null && after.dispute !== "open" && after.dispute !== before.dispute,
  };
  return EVENT_TYPES.filter((type) => happened[type]);
}
