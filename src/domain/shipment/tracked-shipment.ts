import type { End, Ends } from "../route-ends.ts";
import type { AttemptReason, DeliveryStage } from "./delivery-progress.ts";
import type { ShipmentStatus } from "./shipment-state.ts";

/** A promised time span since the epoch, shown in the time zone of the zone. */
interface PromisedWindow {
  readonly startMs: number;
  readonly endMs: number;
  readonly timeZone: string;
}

/** Public view of a shipment for its recipient. Never contains names, streets, prices or notes. */
export interface TrackedShipment {
  readonly reference: string;
  readonly status: ShipmentStatus;
  /** Time at which it reached each status, since the epoch. `undefined` if not reached or unknown. */
  readonly reachedMs: Readonly<Partial<Record<ShipmentStatus, number | undefined>>>;
  readonly windows: Ends<PromisedWindow>;
  readonly stage: DeliveryStage | undefined;
  /** Estimated arrival at each end, since the epoch. null if unknown. */
  readonly etas: Readonly<Record<End, number | null>>;
  /** The current courier. Also `undefined` if the workspace hides couriers. */
  readonly courier:
    | {
        /** `undefined` for a name with a comma, which begins with the family name. */
        readonly firstName: string | undefined;
        readonly vehicle: string | undefined;
        /** Courier's distance from the dropoff, to 100 m. `undefined` if unknown or at the door. */
        readonly distanceKm: number | undefined;
      }
    | undefined;
  /** Last failed delivery. `undefined` if absent or after the final status. */
  readonly failed: { readonly atMs: number; readonly reason: AttemptReason } | undefined;
  /** Recipient's language (RFC 5646). */
  readonly recipientLocale: string | undefined;
  /** Whether the recipient can verify themselves to see more. */
  readonly canOpen: boolean;
  /** Zone of the dropoff. `undefined` outside all zones. */
  readonly area: string | undefined;
  /** Current time by the workspace's clock. */
  readonly atMs: number;
  readonly workspace: {
    readonly name: string;
    readonly contact: string | undefined;
    /** A PNG. */
    readonly logo: Buffer | undefined;
    readonly timeZone: string;
  };
  /** Whether it is in test mode. */
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
