import { timestampDate } from "@bufbuild/protobuf/wkt";
import { DeliveryStage } from "../../../gen/shipments/v1/courier_pb.js";
import { type Shipment, ShipmentStatus } from "../../../gen/shipments/v1/shipment_pb.js";
import type { End } from "./route.ts";
import { useWorkspace } from "../api/session.ts";
import { dateOf, spanText } from "../ui/format.ts";
import { type Delay, delayOf } from "./late.tsx";
import { useNow } from "../ui/values.tsx";
import { windowOf } from "./windows.ts";

const ENDS_AHEAD: ReadonlyMap<ShipmentStatus, readonly End[]> = new Map([
  [ShipmentStatus.AWAITING_PICKUP, ["pickup", "dropoff"]],
  [ShipmentStatus.IN_TRANSIT, ["dropoff"]],
]);

/** Whether the shipment has yet to be picked up or dropped off. */
export function isAhead(end: End, { status }: Shipment): boolean {
  return ENDS_AHEAD.get(status)?.includes(end) ?? false;
}

/**
 * Returns the time from which a shipment is late at its pickup or dropoff: the end of the window there. If neither end
 * has a window, the time at which the shipment reaches the maximum age. `undefined` if it cannot be late. `GetAttention`
 * applies the same rule.
 *
 * @param lateAfterMinutes age above which a shipment without windows is late, in minutes
 */
function dueAt(end: End, shipment: Shipment, lateAfterMinutes: number): Date | undefined {
  if (!isAhead(end, shipment)) return undefined;
  if ((shipment.pickupWindow ?? shipment.dropoffWindow) !== undefined) return windowEndAt(end, shipment);
  return new Date(Number(timestampDate(shipment.createdAt!)) + lateAfterMinutes * 60_000);
}

function windowEndAt(end: End, shipment: Shipment): Date | undefined {
  const window = shipment[`${end}Window` as const];
  return window && windowOf(window).end;
}

/** Returns the expected arrival, `undefined` after the arrival or if unknown. */
function etaAt(end: End, shipment: Shipment): Date | undefined {
  const eta = shipment[`${end}Eta` as const];
  const hasArrived = shipment.stage === (end === "pickup" ? DeliveryStage.AT_PICKUP : DeliveryStage.AT_DROPOFF);
  return hasArrived ? undefined : eta && timestampDate(eta);
}

/** Returns how late the expected arrival at an end is. `undefined` if it is in the future and within the window. */
export function useMissedEta(end: End, shipment: Shipment): Delay | undefined {
  const now = useNow();
  const eta = etaAt(end, shipment);
  if (eta === undefined || !isAhead(end, shipment)) return undefined;
  return delayOf(eta, now) ?? delayOf(windowEndAt(end, shipment), eta);
}

/** Returns how late a shipment is or will be at an end, and for how long it has waited there without a window. */
export function useLateness(end: End, shipment: Shipment) {
  const now = useNow();
  const due = dueAt(end, shipment, useWorkspace().lateAfterMinutes);
  const eta = windowEndAt(end, shipment) && etaAt(end, shipment);
  const isOpen = isAhead(end, shipment) && shipment[`${end}Window` as const] === undefined;
  return {
    delay: delayOf(due, eta && eta > now ? eta : now),
    waited: isOpen ? `Waiting ${spanText(dateOf(shipment.createdAt!), now)}` : undefined,
  };
}
