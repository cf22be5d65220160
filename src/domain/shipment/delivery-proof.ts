import { randomInt } from "node:crypto";

/** Verification that is required at the door before a shipment can be delivered. */
export type DropoffVerification = "none" | "pin" | "photo" | "signature";

/** Stored verification of a shipment, with the PIN if required. */
export type StoredVerification =
  | { readonly by: "pin"; readonly pin: string }
  | { readonly by: "photo" | "signature" };

/** Proof recorded at the door. Pictures are stored separately. */
export interface DeliveryProof {
  readonly recordedAt: number;
  readonly receivedBy: string | null;
  readonly note: string | null;
  readonly pinVerified: boolean;
  readonly photo: boolean;
  readonly signature: boolean;
  /** Reason for the waiver of the verification. null if not waived. */
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

/** Returns the part of a proof that remains valid for another attempt. `undefined` if absent. */
export function withoutDoor({ recordedAt, waived }: DeliveryProof): DeliveryProof | undefined {
  return waived === null ? undefined : { ...NO_PROOF, recordedAt, waived };
}

/** Whether the required verification has been recorded. */
export function isVerified({ by }: StoredVerification, proof: DeliveryProof | undefined): boolean {
  if (proof === undefined) return false;
  return proof.waived !== null || (by === "pin" ? proof.pinVerified : proof[by]);
}
