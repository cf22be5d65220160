import type { EventType } from "./event-type.ts";
import type { ShipmentState } from "./shipment-state.ts";
import type { TrackedShipment } from "./tracked-shipment.ts";

/**
 * What a recipient is told by mail, each once: what happened to a shipment, as events are named after `shipment.`. That
 * it was booked is told once it is paid: before, it may never come.
 */
export const NOTICE_KINDS = [
  "awaiting_pickup",
  "in_transit",
  "at_dropoff",
  "attempt_failed",
  "delivered",
  "returned",
  "cancelled",
] as const;

export type NoticeKind = (typeof NOTICE_KINDS)[number];

/**
 * Of what has happened to a shipment that which its recipient is told: not of a pickup that failed, nor that one was
 * cancelled of which they have heard nothing yet.
 */
export function noticeKinds(
  types: readonly EventType[],
  { status, paymentStatus }: ShipmentState,
): NoticeKind[] {
  return NOTICE_KINDS.filter(
    (kind) =>
      types.includes(`shipment.${kind}`) &&
      (kind !== "attempt_failed" || status === "in_transit") &&
      paymentStatus !== "voided",
  );
}

/** Whether a shipment is where a notice says, so that none comes after the next. */
export function isStillSo(kind: NoticeKind, { status, stage, failed }: TrackedShipment): boolean {
  if (kind === "attempt_failed") return failed !== undefined;
  if (kind === "at_dropoff" || stage === "at_dropoff") return kind === stage;
  return kind === status && failed === undefined;
}
