import type { StoredVerification } from "./delivery-proof.ts";
import { type DeliveryProgress, failedNow, NO_PROGRESS, stageOf } from "./delivery-progress.ts";
import type { EventType } from "./event-type.ts";
import { hasEnded, type ShipmentState } from "./shipment-state.ts";
import type { TrackedShipment } from "./tracked-shipment.ts";

/**
 * Kinds of emails to recipients, named after the events. The booking itself is announced after
 * payment, because it may never be paid.
 */
export const RECIPIENT_MAIL_KINDS = [
  "awaiting_pickup",
  "in_transit",
  "at_dropoff",
  "attempt_failed",
  "delivered",
  "returned",
  "cancelled",
] as const;

export type RecipientMailKind = (typeof RECIPIENT_MAIL_KINDS)[number];

/** Parts of a shipment that determine its emails to the recipient. */
export interface RecipientMailFacts extends ShipmentState {
  readonly recipientEmail: string | null;
  readonly verification: StoredVerification | null;
  readonly progress?: DeliveryProgress | null;
}

export interface DueRecipientMail {
  readonly kind: RecipientMailKind;
  /** Whether it is sent again although it was sent before. Other kinds are sent once. */
  readonly again: boolean;
}

/**
 * Returns the emails to the recipient after a change. Failed pickups, and cancellations of
 * shipments that were never announced, are not sent. A failed attempt is sent each time. The
 * current status is sent if the email changes or a new PIN was never sent.
 *
 * @param before undefined for a new shipment
 */
export function dueRecipientMails(
  types: readonly EventType[],
  before: RecipientMailFacts | undefined,
  after: RecipientMailFacts,
): DueRecipientMail[] {
  const { status, paymentStatus } = after;
  const happened = RECIPIENT_MAIL_KINDS.filter(
    (kind) =>
      types.includes(`shipment.${kind}`) &&
      (kind !== "attempt_failed" || status === "in_transit") &&
      paymentStatus !== "voided",
  ).map((kind) => ({ kind, again: kind === "attempt_failed" }));
  const standing = before && hasNewPinOrAddress(before, after) && standingKind(after);
  return standing && happened.length === 0 ? [{ kind: standing, again: true }] : happened;
}

function hasNewPinOrAddress(before: RecipientMailFacts, after: RecipientMailFacts): boolean {
  const pin = pinOf(after);
  const isNew = pin !== undefined && pin !== pinOf(before);
  return !hasEnded(after.status) && (isNew || after.recipientEmail !== before.recipientEmail);
}

function pinOf({ verification }: RecipientMailFacts): string | undefined {
  return verification?.by === "pin" ? verification.pin : undefined;
}

function standingKind({ status, progress }: RecipientMailFacts): RecipientMailKind | undefined {
  const reported = progress ?? NO_PROGRESS;
  return kindOf({ status, stage: stageOf(status, reported), failed: failedNow(status, reported) });
}

type Standing = Pick<TrackedShipment, "status" | "stage" | "failed">;

/** Returns the email kind of a shipment's status. `undefined` before payment. */
export function kindOf({ status, stage, failed }: Standing): RecipientMailKind | undefined {
  if (failed !== undefined) return "attempt_failed";
  if (stage === "at_dropoff") return stage;
  return status === "pending" ? undefined : status;
}
