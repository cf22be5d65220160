import { randomInt } from "node:crypto";

/** Verification at the door that is required for delivery. */
export type DropoffVerification = "none" | "pin" | "photo" | "signature";

/** Stored form of the required verification, with the PIN if any. */
export type StoredVerification = { readonly by: "pin"; readonly pin: string } | { readonly by: "photo" | "signature" };

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

/** Maximum number of wrong attempts at a PIN. Guessing four digits then succeeds with a probability of 1 in 2,000. */
export const MAX_WRONG_PINS = 5;

const PINS = 10_000;

/** Returns the stored form of a verification, with a new PIN for `pin`, or null for `none`. */
export function storedVerification(verification: DropoffVerification): StoredVerification | null {
  if (verification === "none") return null;
  return verification === "pin" ? { by: verification, pin: pinOf(randomInt(PINS)) } : { by: verification };
}

/** Returns the verification with a different PIN, if it uses one. Needed when the courier may know the PIN. */
export function withOtherPin(verification: StoredVerification): StoredVerification {
  if (verification.by !== "pin") return verification;
  return { by: "pin", pin: pinOf((Number(verification.pin) + randomInt(1, PINS)) % PINS) };
}

const pinOf = (number: number) => String(number).padStart(4, "0");

/** Removes the PIN result and waiver from a proof. Returns the same object if it has neither. */
export function withoutVerdict(proof: DeliveryProof): DeliveryProof {
  if (!proof.pinVerified && proof.waived === null) return proof;
  return { ...proof, pinVerified: false, waived: null };
}

/** Returns the part of a proof that remains valid for another attempt: the waiver. `undefined` if there is none. */
export function withoutDoor({ recordedAt, waived }: DeliveryProof): DeliveryProof | undefined {
  return waived === null ? undefined : { ...NO_PROOF, recordedAt, waived };
}

/** Whether the required verification has been recorded. */
export function isVerified({ by }: StoredVerification, proof: DeliveryProof | undefined): boolean {
  if (proof === undefined) return false;
  return proof.waived !== null || (by === "pin" ? proof.pinVerified : proof[by]);
}
