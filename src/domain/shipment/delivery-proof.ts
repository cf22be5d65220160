import { randomInt } from "node:crypto";
import type { DeliveryProgress } from "./delivery-progress.ts";

/** What has to be recorded at the door before a shipment can be delivered. */
export type DropoffVerification = "none" | "pin" | "photo" | "signature";

/** How a shipment's delivery is verified, with the PIN where it is by one. */
export type StoredVerification =
  | { readonly by: "pin"; readonly pin: string }
  | { readonly by: "photo" | "signature" };

/** What was recorded at the door; pictures are kept apart. */
export interface DeliveryProof {
  readonly recordedAt: number;
  readonly receivedBy: string | null;
  readonly note: string | null;
  readonly pinVerified: boolean;
  readonly photo: boolean;
  readonly signature: boolean;
  /** Why it may be delivered without its verification; null when it may not. */
  readonly waived: string | null;
}

export const NO_PROOF: Omit<DeliveryProof, "recordedAt"> = {
  receivedBy: null,
  note: null,
  pinVerified: false,
  photo: false,
  signature: false,
  waived: null,
};

/** Wrong entries accepted for a PIN. Guesses of four digits succeed once in 2,000. */
export const MAX_WRONG_PINS = 5;

const PINS = 10_000;

/** Returns the verification of a kind, with a new PIN if it is by PIN, or null for none. */
export function storedVerification(asked: DropoffVerification): StoredVerification | null {
  if (asked === "none") return null;
  return asked === "pin" ? { by: asked, pin: pinOf(randomInt(PINS)) } : { by: asked };
}

/** Replaces a PIN that is known to the courier by another one. Other verifications stay. */
export function withOtherPin(verification: StoredVerification): StoredVerification {
  if (verification.by !== "pin") return verification;
  return { by: "pin", pin: pinOf((Number(verification.pin) + randomInt(1, PINS)) % PINS) };
}

const pinOf = (number: number) => String(number).padStart(4, "0");

/** Removes the verdict of the former verification from a proof. Returns the same proof if it has none. */
export function withoutVerdict(proof: DeliveryProof): DeliveryProof {
  if (!proof.pinVerified && proof.waived === null) return proof;
  return { ...proof, pinVerified: false, waived: null };
}

/** A proof without what was recorded at the door, for the courier comes again; undefined where nothing else was. */
export function withoutDoor({ recordedAt, waived }: DeliveryProof): DeliveryProof | undefined {
  return waived === null ? undefined : { ...NO_PROOF, recordedAt, waived };
}

/** Whether what has to be recorded before a shipment can be delivered was. */
export function isVerified(
  { by }: StoredVerification,
  { proof }: Pick<DeliveryProgress, "proof">,
): boolean {
  if (proof === undefined) return false;
  return proof.waived !== null || (by === "pin" ? proof.pinVerified : proof[by]);
}
