import { timestampDate } from "@bufbuild/protobuf/wkt";
import { DeliveryStage } from "../../../gen/shipments/v1/courier_pb.js";
import { type Shipment, ShipmentStatus } from "../../../gen/shipments/v1/shipment_pb.js";
import { type End, ENDS } from "./route.ts";
import { useWorkspace } from "../api/session.ts";
import { dateOf, spanText } from "../ui/format.ts";
import { useNow } from "../ui/values.tsx";
import { windowOf } from "./windows.ts";
import "./shipments.css";

interface Delay {
  /** End of the deadline that the shipment misses first. */
  readonly end: End;
  readonly due: Date;
  /** Current or expected time of arrival, whichever is later. */
  readonly at: Date;
}

const ENDS_AHEAD: ReadonlyMap<ShipmentStatus, readonly End[]> = new Map([
  [ShipmentStatus.AWAITING_PICKUP, ["pickup", "dropoff"]],
  [ShipmentStatus.IN_TRANSIT, ["dropoff"]],
]);

/** Whether the shipment has yet to be picked up or dropped off. */
export function isAhead(end: End, { status }: Shipment): boolean {
  return ENDS_AHEAD.get(status)?.includes(end) ?? false;
}

/**
 * Returns how late a shipment is or will be. Its deadlines are the ends of its windows. Without windows, it must not
 * exceed the maximum age. `undefined` if it is not late. `GetAttention` applies the same rule.
 */
export function useDelay(shipment: Shipment): Delay | undefined {
  const now = useNow();
  const { lateAfterMinutes } = useWorkspace();
  const { createdAt, pickupWindow, dropoffWindow } = shipment;
  const maxAge = new Date(Number(timestampDate(createdAt!)) + lateAfterMinutes * 60_000);
  const missed = ENDS.flatMap((end) => {
    const window = shipment[`${end}Window` as const];
    const due = window ? windowOf(window).end : (pickupWindow ?? dropoffWindow) ? undefined : maxAge;
    const at = new Date(Math.max(Number(now), Number((window && etaAt(end, shipment)) ?? now)));
    return isAhead(end, shipment) && due && at > due ? [{ end, due, at }] : [];
  });
  return missed.toSorted((one, other) => Number(one.due) - Number(other.due))[0];
}

/** Returns the expected arrival, `undefined` after the arrival or if unknown. */
function etaAt(end: End, shipment: Shipment): Date | undefined {
  const eta = shipment[`${end}Eta` as const];
  const hasArrived = shipment.stage === (end === "pickup" ? DeliveryStage.AT_PICKUP : DeliveryStage.AT_DROPOFF);
  return hasArrived ? undefined : eta && timestampDate(eta);
}

/** Returns for how long a shipment has waited at an end without a window, such as `Waiting 2 days`. */
export function useWaiting(end: End, shipment: Shipment): string | undefined {
  const now = useNow();
  const isOpen = isAhead(end, shipment) && shipment[`${end}Window` as const] === undefined;
  return isOpen ? `Waiting ${spanText(dateOf(shipment.createdAt!), now)}` : undefined;
}

const DAY_MS = 86_400_000;

/** Shows a delay, such as "Late 2 days". Only the duration is colored: amber below one day, red from one day. */
export function Late({ delay: { due, at } }: { readonly delay: Delay }) {
  return (
    <>
      Late <span class={Number(at) - Number(due) >= DAY_MS ? "late long" : "late"}>{spanText(due, at)}</span>
    </>
  );
}
