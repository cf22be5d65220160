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
  readonly reachedMs: Readonly<Record<ShipmentStatus, number | undefined>>;
  readonly windows: Readonly<Record<"pickup" | "dropoff", PromisedWindow | undefined>>;
  /** The zone of the dropoff; undefined outside of all. */
  readonly area: string | undefined;
  /** The time it is, by the clock of its workspace. */
  readonly atMs: number;
  readonly workspace: {
    readonly name: string;
    readonly contact: string | undefined;
    readonly timeZone: string;
  };
  /** Whether it is of test mode. */
  readonly test: boolean;
}

/** Whether it is later than its recipient was promised: than the delivery, or where none was promised, than the pickup. */
export function isLate({ status, windows: { pickup, dropoff }, atMs }: TrackedShipment): boolean {
  const isOver = (window: PromisedWindow | undefined) =>
    window !== undefined && window.endMs < atMs;
  if (status === "in_transit") return isOver(dropoff);
  return status === "awaiting_pickup" && isOver(dropoff ?? pickup);
}
