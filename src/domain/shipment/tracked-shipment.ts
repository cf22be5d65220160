import type { End, Ends } from "../route-ends.ts";
import type { Item } from "./delivery-details.ts";
import type { AttemptReason, DeliveryStage } from "./delivery-progress.ts";
import type { ShipmentStatus } from "./shipment-state.ts";

/** A promised time window in milliseconds since the epoch, displayed in the zone's time zone. */
interface PromisedWindow {
  readonly startMs: number;
  readonly endMs: number;
  readonly timeZone: string;
}

/** Public view of a shipment for the recipient. Never contains names, streets, prices or notes. */
export interface TrackedShipment {
  readonly reference: string;
  readonly status: ShipmentStatus;
  /**
   * Time at which the shipment reached each status, in milliseconds since the epoch. `undefined` if
   * not reached or unknown.
   */
  readonly reachedMs: Readonly<Partial<Record<ShipmentStatus, number | undefined>>>;
  readonly windows: Ends<PromisedWindow>;
  readonly stage: DeliveryStage | undefined;
  /** Estimated time of arrival at each end, in milliseconds since the epoch. null if unknown. */
  readonly etas: Readonly<Record<End, number | null>>;
  /** The current courier. `undefined` if there is none or the workspace hides couriers. */
  readonly courier:
    | {
        /**
         * First word of the name. `undefined` if the name contains a comma, because such a name begins with the family
         * name.
         */
        readonly firstName: string | undefined;
        readonly vehicle: string | undefined;
        /**
         * Distance from the courier to the dropoff, rounded to 100 m. `undefined` if unknown or if
         * the courier is at the door.
         */
        readonly distanceKm: number | undefined;
      }
    | undefined;
  /** Last failed delivery. `undefined` if there is none, and after the final status. */
  readonly failed: { readonly atMs: number; readonly reason: AttemptReason } | undefined;
  readonly items: readonly Item[];
  /** Recipient's language (RFC 5646). */
  readonly recipientLocale: string | undefined;
  /** Whether the recipient can enter digits of their phone number to see more details. */
  readonly canOpen: boolean;
  /** Whether there is a photo of the delivery. */
  readonly hasPhoto: boolean;
  /** Name of the dropoff's zone. `undefined` if the dropoff is outside all zones. */
  readonly area: string | undefined;
  /** Current time by the workspace's clock, in milliseconds since the epoch. */
  readonly atMs: number;
  readonly workspace: {
    readonly name: string;
    readonly contact: string | undefined;
    /** PNG image. */
    readonly logo: Buffer | undefined;
    readonly timeZone: string;
  };
  readonly test: boolean;
}

/**
 * Whether a shipment has missed, or is expected to miss, the window of an end that the courier has
 * not left. Must match `LATE` in `features/reports/get-attention.ts`.
 */
export function isLate({ status, stage, windows, etas, atMs }: TrackedShipment): boolean {
  return ENDS_AHEAD[status].some((end) => {
    const etaMs = stage === `at_${end}` ? null : etas[end];
    return (windows[end]?.endMs ?? Infinity) < Math.max(atMs, etaMs ?? 0);
  });
}

/** Whether the courier's last ETA at the dropoff has passed before their arrival. */
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
