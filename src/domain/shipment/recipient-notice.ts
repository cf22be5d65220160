import type { StoredVerification } from "./delivery-proof.ts";
import { type DeliveryProgress, failedNow, NO_PROGRESS, stageOf } from "./delivery-progress.ts";
import type { EventType } from "./event-type.ts";
import { hasEnded, type ShipmentState } from "./shipment-state.ts";
import type { TrackedShipment } from "./tracked-shipment.ts";

/**
 * What a recipient is told by mail: what happened to a shipment, as events are named after `shipment.`. That it was
 * booked is told once it is paid: before, it may never come.
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

/** What of a shipment tells what its recipient has to know. */
export interface NoticeState extends ShipmentState {
  readonly recipientEmail: string | null;
  readonly verification: StoredVerification | null;
  readonly progress?: DeliveryProgress | null;
}

export interface DueNotice {
  readonly kind: NoticeKind;
  /** Whether it is told although it was told before; else each is told once. */
  readonly again: boolean;
}

/**
 * What the recipient of a shipment is told after a change. Of what has happened not a pickup that failed, nor that one
 * was cancelled of which they have heard nothing yet. Again that an attempt failed, each time; and how the shipment
 * stands, when its email is another, or it has a PIN that was in no mail before.
 *
 * @param before undefined for a new shipment
 */
export function dueNotices(
  types: readonly EventType[],
  before: NoticeState | undefined,
  after: NoticeState,
): DueNotice[] {
  const { status, paymentStatus } = after;
  const happened = NOTICE_KINDS.filter(
    (kind) =>
      types.includes(`shipment.${kind}`) &&
      (kind !== "attempt_failed" || status === "in_transit") &&
      paymentStatus !== "voided",
  ).map((kind) => ({ kind, again: kind === "attempt_failed" }));
  const standing = before && lacksNotice(before, after) && standingKind(after);
  return standing && happened.length === 0 ? [{ kind: standing, again: true }] : happened;
}

function lacksNotice(before: NoticeState, after: NoticeState): boolean {
  const pin = pinOf(after);
  const isNew = pin !== undefined && pin !== pinOf(before);
  return !hasEnded(after.status) && (isNew || after.recipientEmail !== before.recipientEmail);
}

function pinOf({ verification }: NoticeState): string | undefined {
  return verification?.by === "pin" ? verification.pin : undefined;
}

function standingKind({ status, progress }: NoticeState): NoticeKind | undefined {
  const reported = progress ?? NO_PROGRESS;
  return kindOf({ status, stage: stageOf(status, reported), failed: failedNow(status, reported) });
}

type Standing = Pick<TrackedShipment, "status" | "stage" | "failed">;

/** The notice of how a shipment stands; undefined before it is paid. */
export function kindOf({ status, stage, failed }: Standing): NoticeKind | undefined {
  if (failed !== undefined) return "attempt_failed";
  if (stage === "at_dropoff") return stage;
  return status === "pending" ? undefined : status;
}
