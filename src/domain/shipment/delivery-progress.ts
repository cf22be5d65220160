import { type End, ENDS } from "../route-ends.ts";
import { type DeliveryProof, withoutDoor, withoutVerdict } from "./delivery-proof.ts";
import type { ShipmentStatus } from "./shipment-state.ts";

/** The courier of a shipment, as shown to its workspace. */
export interface Courier {
  readonly name: string;
  /** Phone number in E.164. */
  readonly phone: string | null;
  readonly vehicle: string | null;
  /** Id of the courier in the caller's system. */
  readonly externalId: string | null;
  /** Id of the courier in the workspace. `undefined` if the courier was given by details. */
  readonly courierId?: string;
  /** Position of the shipment in the courier's run. `undefined` if not given. */
  readonly sequence?: number;
  /** Time at which the position was given, in milliseconds since the epoch. */
  readonly sequencedAtMs?: number;
}

export type AttemptReason = "nobody_there" | "refused" | "wrong_address" | "damaged" | "other";

export interface Attempt {
  readonly end: End;
  readonly atMs: number;
  readonly reason: AttemptReason;
  readonly note: string | null;
  /** Whether a photo was recorded. Absent if not. */
  readonly photo?: true;
}

/** Estimated time of arrival at each end, in milliseconds since the epoch. null if unknown. */
type Etas = Readonly<Record<End, number | null>>;

/** Progress of a shipment between payment and its final status, as reported by the courier. */
export interface DeliveryProgress {
  readonly courier: Courier | null;
  /** End at which the courier is waiting. null if the courier is at neither end. */
  readonly arrivedAt: End | null;
  readonly etas: Etas;
  /** ETAs in the last event. New ETAs are compared with these. */
  readonly announcedEtas: Etas;
  /** Failed attempts, the oldest first. At most `MAX_ATTEMPTS` at each end. */
  readonly attempts: readonly Attempt[];
  /** Proof of delivery. `undefined` if none was recorded. */
  readonly proof?: DeliveryProof;
  /** Number of wrong attempts at the current PIN. `undefined` if there were none. */
  readonly wrongPins?: number;
  /** Last wrong PIN. Repeating it, for example after a lost response, does not count as another attempt. */
  readonly lastWrongPin?: string;
}

/** Maximum number of failed attempts at each end. */
export const MAX_ATTEMPTS = 20;

const UNKNOWN_ETAS: Etas = { pickup: null, dropoff: null };

export const NO_PROGRESS: DeliveryProgress = {
  courier: null,
  arrivedAt: null,
  etas: UNKNOWN_ETAS,
  announcedEtas: UNKNOWN_ETAS,
  attempts: [],
};

export type DeliveryStage = "assigned" | "at_pickup" | "at_dropoff";

/** Returns the courier's stage. `undefined` if there is no courier, or if the courier is between the ends. */
export function stageOf(status: ShipmentStatus, { courier, arrivedAt }: DeliveryProgress): DeliveryStage | undefined {
  if (status === "in_transit") return arrivedAt === "dropoff" ? "at_dropoff" : undefined;
  if (status !== "awaiting_pickup") return undefined;
  if (arrivedAt === "pickup") return "at_pickup";
  return courier === null ? undefined : "assigned";
}

/** Returns the last failed delivery. `undefined` after the final status and during another attempt. */
export function failedNow(status: ShipmentStatus, { attempts, arrivedAt }: DeliveryProgress): Attempt | undefined {
  const failed = attempts.at(-1);
  return status === "in_transit" && arrivedAt === null && failed?.end === "dropoff" ? failed : undefined;
}

/** Minimum change of an ETA that causes an event, in milliseconds. */
const ETA_MOVES_MS = 5 * 60_000;

/**
 * Applies new ETAs. They cause an event if an ETA is new or differs by at least five minutes from the ETA in the last
 * event, so that many small changes add up.
 */
export function withEtas(before: DeliveryProgress, changes: Partial<Etas>): DeliveryProgress {
  const etas = { ...before.etas, ...changes };
  if (ENDS.every((end) => etas[end] === before.etas[end])) return before;
  const { announcedEtas } = before;
  const isMoved = ENDS.some((end) => {
    const [eta, announced] = [etas[end], announcedEtas[end]];
    return eta !== null && (announced === null || Math.abs(eta - announced) >= ETA_MOVES_MS);
  });
  return { ...before, etas, announcedEtas: isMoved ? etas : announcedEtas };
}

/** Applies a new courier. If the courier is replaced, clears the stage and ETAs. */
export function withCourier(before: DeliveryProgress, courier: Courier | null): DeliveryProgress {
  const { arrivedAt, etas, announcedEtas } = NO_PROGRESS;
  const isReplaced = isCourierReplaced(before, courier);
  return { ...before, ...(isReplaced && { arrivedAt, etas, announcedEtas }), courier };
}

export function isCourierReplaced({ courier }: DeliveryProgress, by: Courier | null): boolean {
  return courier !== null && !isSameCourier(courier, by);
}

/** Compares couriers by an id that both have, otherwise by name. */
function isSameCourier(one: Courier, other: Courier | null): boolean {
  if (other === null) return false;
  if (one.courierId !== undefined && other.courierId !== undefined) return one.courierId === other.courierId;
  if (one.externalId !== null && other.externalId !== null) {
    return one.externalId === other.externalId;
  }
  return one.name === other.name;
}

/**
 * Returns the progress after the required verification is changed: without the result of the
 * previous verification and without wrong PINs.
 */
export function withOtherVerification(before: DeliveryProgress): DeliveryProgress {
  const { proof, wrongPins: _, lastWrongPin: __, ...others } = before;
  return { ...others, ...(proof && { proof: withoutVerdict(proof) }) };
}

/** Returns the progress that remains valid after a status change. */
export function progressFrom(before: DeliveryProgress, status: ShipmentStatus): DeliveryProgress {
  const isOnItsWay = status === "in_transit";
  const left = (etas: Etas): Etas => (isOnItsWay ? { ...etas, pickup: null } : UNKNOWN_ETAS);
  const { etas, announcedEtas } = before;
  return { ...before, arrivedAt: null, etas: left(etas), announcedEtas: left(announcedEtas) };
}

/** Records a failed attempt. Clears the stage and ETA. Discards the proof of delivery, but keeps a waiver. */
export function withAttempt({ proof, ...before }: DeliveryProgress, failed: Attempt): DeliveryProgress {
  const { end } = failed;
  const remainingProof = end === "pickup" ? proof : proof && withoutDoor(proof);
  return {
    ...before,
    ...(remainingProof && { proof: remainingProof }),
    arrivedAt: null,
    etas: { ...before.etas, [end]: null },
    announcedEtas: { ...before.announcedEtas, [end]: null },
    attempts: [...before.attempts, failed],
  };
}
