import type { ShipmentState } from "./shipment-state.ts";

/** What can happen in a workspace. */
export const EVENT_TYPES = [
  "shipment.created",
  "shipment.updated",
  "shipment.paid",
  "shipment.awaiting_pickup",
  "shipment.in_transit",
  "shipment.delivered",
  "shipment.cancelled",
  "shipment.refunded",
  "webhook.disabled",
  "webhook.test",
] as const;

/** What can happen in a workspace. */
export type EventType = (typeof EVENT_TYPES)[number];

/**
 * What happened to a shipment that changed from one state to another, in order: at least one thing.
 * `before` is undefined for a shipment that has just been booked.
 */
export function shipmentEventTypes(
  before: ShipmentState | undefined,
  after: ShipmentState,
): EventType[] {
  if (before === undefined) return ["shipment.created"];
  const types: EventType[] = [];
  if (!isSettled(before) && isSettled(after)) types.push("shipment.paid");
  if (after.status !== before.status && after.status !== "pending") {
    types.push(`shipment.${after.status}`);
  }
  if (before.paymentStatus !== "refunded" && after.paymentStatus === "refunded") {
    types.push("shipment.refunded");
  }
  return types.length === 0 ? ["shipment.updated"] : types;
}

/** Whether money was received, be it after the cancellation. */
function isSettled({ paymentStatus }: ShipmentState): boolean {
  return paymentStatus !== "awaiting_payment" && paymentStatus !== "voided";
}
