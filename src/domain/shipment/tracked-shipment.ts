import type { AttemptReason, DeliveryStage, End } from "./delivery-progress.ts";
import type { ShipmentStatus } from "./shipment-state.ts";

/** When something was promised, since the epoch; its times are told in the zone. */
interface PromisedWindow {
  readonly startMs: number;
  readonly endMs: number;
  readonly timeZone: string;
}

/** What whoever waits for a shipment may see of it: never a name, a street, a price or a note. */
export interface TrackedShipment {
  readonly reference: string;
  readonly status: ShipmentStatus;
  /** When it came to each state, since the epoch; undefined where it did not, or where that is not known any more. */
  readonly reachedMs: Readonly<Partial<Record<ShipmentStatus, number | undefined>>>;
  readonly windows: Readonly<Record<End, PromisedWindow | undefined>>;
  readonly stage: DeliveryStage | undefined;
  /** When the courier expects to be at each end, since the epoch; null while that is not known. */
  readonly etas: Readonly<Record<End, number | null>>;
  /** Who brings it, while they do; undefined too where the workspace does not want that shown. */
  readonly courier:
    | {
        /** `undefined` for a name with a comma, which begins with the family name. */
        readonly firstName: string | undefined;
        readonly vehicle: string | undefined;
        /** How far from the dropoff they are, to 100 m; undefined while that is not known, and at the door. */
        readonly distanceKm: number | undefined;
      }
    | undefined;
  /** Why it was not delivered when that was tried last; undefined while it was not, and at its end. */
  readonly failed: { readonly atMs: number; readonly reason: AttemptReason } | undefined;
  /** The language that its recipient is said to read (RFC 5646). */
  readonly recipientLocale: string | undefined;
  /** Whether its recipient can prove to be one, and see more. */
  readonly canOpen: boolean;
  /** The zone of the dropoff; undefined outside of all. */
  readonly area: string | undefined;
  /** The time it is, by the clock of its workspace. */
  readonly atMs: number;
  readonly workspace: {
    readonly name: string;
    readonly contact: string | undefined;
    /** A PNG. */
    readonly logo: Buffer | undefined;
    readonly timeZone: string;
  };
  /** Whether it is of test mode. */
  readonly test: boolean;
}

/**
 * Whether a shipment misses, or is expected to miss, a window of an end that the courier has not left. `LATE` in
 * `features/reports/get-attention.ts` has the same rule.
 */
export function isLate({ status, stage, windows, etas, atMs }: TrackedShipment): boolean {
  return ENDS_AHEAD[status].some((end) => {
    const etaMs = stage === `at_${end}` ? null : etas[end];
    return (windows[end]?.endMs ?? Infinity) < Math.max(atMs, etaMs ?? 0);
  });
}

/** Whether the courier's last ETA has passed without their arrival at the dropoff. */
export function isOverdue({ status, stage, etas, atMs }: TrackedShipment): boolean {
  const isAhead = ENDS_AHEAD[status].includes("dropoff") && stage !== "at_dropoff";
  return isAhead && (etas.dropoff ?? Infinity) <= atMs;
}

const ENDS_AHEAD: Readonly<Record<ShipmentStatus, readonly End[]>> = {
  pending: [],
  awaiting_pickup: ["pickup", "dropoff"],
  in_transit: ["dropoff"],
  delivered: [],
  returned: [],
  cancelled: [],
};
