import { invalidField } from "../refusal.ts";
import type { DropoffVerification } from "./delivery-proof.ts";
import type { ShipmentStatus } from "./shipment-state.ts";

/** Ways to hand over a shipment at the dropoff. The first is the default. */
export const HANDOVERS = ["meet", "leave_at_door"] as const;

export type DropoffHandover = (typeof HANDOVERS)[number];

/** What the courier does with a shipment that cannot be delivered. The first is the default. */
export const UNDELIVERABLE_ACTIONS = ["return", "dispose"] as const;

export type UndeliverableAction = (typeof UNDELIVERABLE_ACTIONS)[number];

export interface Item {
  readonly name: string;
  readonly quantity: number;
  /** Id of the item in the caller's system. */
  readonly externalId: string | null;
}

/** Result of a change by the recipient: saved, refused because of the text, or refused because of the shipment. */
export type EditResult = "saved" | "invalid" | "closed";

/** Maximum number of changes of the dropoff instructions by the recipient. */
const MAX_RECIPIENT_EDITS = 5;

/** Whether the recipient may change the dropoff instructions: until pickup, a limited number of times. */
export function mayRecipientEdit(shipment: { readonly status: ShipmentStatus; readonly recipientEdits: number }) {
  const isBeforePickup = shipment.status === "pending" || shipment.status === "awaiting_pickup";
  return isBeforePickup && shipment.recipientEdits < MAX_RECIPIENT_EDITS;
}

/**
 * Returns the verification that a shipment requires: a shipment that is left at the door requires a photo.
 *
 * @throws Refusal FIELD_INVALID if the verification needs a person at the door
 */
export function requiredVerification(handover: DropoffHandover, asked: DropoffVerification): DropoffVerification {
  if (handover === "meet") return asked;
  if (asked === "none" || asked === "photo") return "photo";
  throw invalidField(
    "dropoff_handover",
    `must be meet if dropoff_verification is ${asked}. Otherwise no one is at the door.`,
  );
}
