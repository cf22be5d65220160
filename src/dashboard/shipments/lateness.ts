import { timestampDate } from "@bufbuild/protobuf/wkt";
import { DeliveryStage } from "../../../gen/shipments/v1/courier_pb.js";
import { type Shipment, ShipmentStatus } from "../../../gen/shipments/v1/shipment_pb.js";
import type { End } from "./route.ts";
import { useWorkspace } from "../api/session.ts";
import { dateOf, spanText } from "../ui/format.ts";
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
 * Whether a shipment is late at its pickup or dropoff. With a window there, it is late if it misses or is expected to
 * miss the window. A shipment without any window is late above a certain age. `GetAttention` applies the same rule.
 *
 * @param lateAfterMinutes age above which a shipment without windows is late, in minutes
 */
function isLateAt(end: End, shipment: Shipment, now: Date, lateAfterMinutes: number): boolean {
  if (!isAhead(end, shipment)) return false;
  const windowEnd = windowEndAt(end, shipment);
  if (windowEnd !== undefined) return windowEnd < now || windowEnd < (etaAt(end, shipment) ?? now);
  const hasWindow = (shipment.pickupWindow ?? shipment.dropoffWindow) !== undefined;
  const ageMs = Number(now) - Number(timestampDate(shipment.createdAt!));
  return !hasWindow && ageMs > lateAfterMinutes * 60_000;
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

/** Returns whether the expected arrival at an end has passed or misses the window there. */
export function useMissedEta(end: End, shipment: Shipment): boolean {
  const now = useNow();
  const eta = etaAt(end, shipment);
  if (eta === undefined || !isAhead(end, shipment)) return false;
  return eta < now || (windowEndAt(end, shipment) ?? eta) < eta;
}

/** Returns whether a shipment is late at an end, and for how long it has waited there if it has no window. */
export function useLateness(end: End, shipment: Shipment) {
  const now = useNow();
  const isLate = isLateAt(end, shipment, now, useWorkspace().lateAfterMinutes);
  const isOpen = isAhead(end, shipment) && shipment[`${end}Window` as const] === undefined;
  const span = isOpen && spanText(dateOf(shipment.createdAt!), now);
  return { isLate, waited: span && (isLate ? `Late: waiting ${span}` : `Waiting ${span}`) };
}
