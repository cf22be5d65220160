import { type DeliveryProof, withoutDoor, withoutVerdict } from "./delivery-proof.ts";
import type { ShipmentStatus } from "./shipment-state.ts";

/** Who brings a shipment, as its workspace knows them. */
export interface Courier {
  readonly name: string;
  /** In E.164. */
  readonly phone: string | null;
  readonly vehicle: string | null;
  /** The caller's own id of the courier. */
  readonly externalId: string | null;
}

/** Why a shipment could not be picked up or delivered. */
export type AttemptReason = "nobody_there" | "refused" | "wrong_address" | "damaged" | "other";

export const ENDS = ["pickup", "dropoff"] as const;

export type End = (typeof ENDS)[number];

export interface Attempt {
  readonly end: End;
  readonly atMs: number;
  readonly reason: AttemptReason;
  readonly note: string | null;
}

/** When a courier expects to be at each end, since the epoch; null where that is not known. */
type Etas = Readonly<Record<End, number | null>>;

/** What a courier's system reports of a shipment between its payment and its end. */
export interface DeliveryProgress {
  readonly courier: Courier | null;
  /** The end at which the courier is, until they leave it. */
  readonly arrivedAt: End | null;
  readonly etas: Etas;
  /** The ETAs of the last event that had one, with which the next are compared. */
  readonly announcedEtas: Etas;
  /** Those that failed, the oldest first; at most `MAX_ATTEMPTS` at each end. */
  readonly attempts: readonly Attempt[];
  /** What was recorded at the door; undefined while nothing was. */
  readonly proof?: DeliveryProof;
  /** Number of wrong entries of the current PIN; `undefined` for none. */
  readonly wrongPins?: number;
  /** Last wrong entry. Repeating it, as after a lost response, costs no try. */
  readonly lastWrongPin?: string;
}

/** At each end. */
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

/** Where the courier is; undefined without one, and on the way. */
export function stageOf(
  status: ShipmentStatus,
  { courier, arrivedAt }: DeliveryProgress,
): DeliveryStage | undefined {
  if (status === "in_transit") return arrivedAt === "dropoff" ? "at_dropoff" : undefined;
  if (status !== "awaiting_pickup") return undefined;
  if (arrivedAt === "pickup") return "at_pickup";
  return courier === null ? undefined : "assigned";
}

/** Why a shipment was not delivered when that was tried last; undefined at its end, and while it is tried again. */
export function failedNow(
  status: ShipmentStatus,
  { attempts, arrivedAt }: DeliveryProgress,
): Attempt | undefined {
  const failed = attempts.at(-1);
  return status === "in_transit" && arrivedAt === null && failed?.end === "dropoff"
    ? failed
    : undefined;
}

/** By how much an ETA moves before that is an event, in milliseconds. */
const ETA_MOVES_MS = 5 * 60_000;

/**
 * Takes new ETAs. They are announced once one of them is new, or five minutes or more from the one that was
 * announced last: many small moves add up.
 */
export function withEtas(before: DeliveryProgress, given: Partial<Etas>): DeliveryProgress {
  const etas = { ...before.etas, ...given };
  if (ENDS.every((end) => etas[end] === before.etas[end])) return before;
  const { announcedEtas } = before;
  const isMoved = ENDS.some((end) => {
    const [eta, announced] = [etas[end], announcedEtas[end]];
    return eta !== null && (announced === null || Math.abs(eta - announced) >= ETA_MOVES_MS);
  });
  return { ...before, etas, announcedEtas: isMoved ? etas : announcedEtas };
}

/**
 * Says who comes. When that is somebody else than before, what was reported of where the courier is, and when they
 * come, no longer holds.
 */
export function withCourier(before: DeliveryProgress, courier: Courier | null): DeliveryProgress {
  const { arrivedAt, etas, announcedEtas } = NO_PROGRESS;
  const isReplaced = isCourierReplaced(before, courier);
  return { ...before, ...(isReplaced && { arrivedAt, etas, announcedEtas }), courier };
}

/** Whether somebody else came before. */
export function isCourierReplaced({ courier }: DeliveryProgress, by: Courier | null): boolean {
  return courier !== null && !isSameCourier(courier, by);
}

/** By their ids where both have one, else by their names. */
function isSameCourier(one: Courier, other: Courier | null): boolean {
  if (other === null) return false;
  if (one.externalId !== null && other.externalId !== null) {
    return one.externalId === other.externalId;
  }
  return one.name === other.name;
}

/** Progress of a shipment that gets another verification: without the former one's verdict and wrong PINs. */
export function withOtherVerification(before: DeliveryProgress): DeliveryProgress {
  const { proof, wrongPins: _, lastWrongPin: __, ...kept } = before;
  return { ...kept, ...(proof && { proof: withoutVerdict(proof) }) };
}

/** What still holds of what was reported, once a shipment came to another status. */
export function progressFrom(before: DeliveryProgress, status: ShipmentStatus): DeliveryProgress {
  const isOnItsWay = status === "in_transit";
  const left = (etas: Etas): Etas => (isOnItsWay ? { ...etas, pickup: null } : UNKNOWN_ETAS);
  const { etas, announcedEtas } = before;
  return { ...before, arrivedAt: null, etas: left(etas), announcedEtas: left(announcedEtas) };
}

/**
 * Notes an attempt that failed: the courier leaves, and nobody knows when they come again. What was recorded at the door
 * proves no later delivery; that nothing has to be proven holds on.
 */
export function withAttempt(
  { proof, ...before }: DeliveryProgress,
  failed: Attempt,
): DeliveryProgress {
  const { end } = failed;
  const kept = end === "pickup" ? proof : proof && withoutDoor(proof);
  return {
    ...before,
    ...(kept && { proof: kept }),
    arrivedAt: null,
    etas: { ...before.etas, [end]: null },
    announcedEtas: { ...before.announcedEtas, [end]: null },
    attempts: [...before.attempts, failed],
  };
}
