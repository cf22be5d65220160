import type { StoredVerification } from "./delivery-proof.ts";
import { type DeliveryProgress, failedNow, NO_PROGRESS, stageOf } from "./delivery-progress.ts";
import type { EventType } from "./event-type.ts";
import { hasEnded, type ShipmentState } from "./shipment-state.ts";
import type { TrackedShipment } from "./tracked-shipment.ts";

/**
 * Kinds of emails to recipients, named after the events. There is no email about the booking, because it may never be
 * paid.
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
  /** Whether the email is sent even if an email of the same kind was sent before. */
  readonly again: boolean;
}

/**
 * Returns the emails to send to the recipient after a change. A failed delivery is reported each
 * time. Failed pickups, and cancellations before payment, are not reported. If the recipient's
 * email changes or a new PIN was never sent, an email about the current status is due.
 *
 * @param before `undefined` for a new shipment
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

/** Returns the kind of email about a shipment's current status. `undefined` before payment. */
export function kindOf({ status, stage, failed }: Standing): RecipientMailKind | undefined {
  if (failed !== undefined) return "attempt_failed";
  if (stage === "at_dropoff") return stage;
  return status === "pending" ? undefined : status;
}
