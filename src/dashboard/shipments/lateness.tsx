import { timestampDate } from "@bufbuild/protobuf/wkt";
import { DeliveryStage } from "../../../gen/shipments/v1/courier_pb.js";
import { type Shipment, ShipmentStatus } from "../../../gen/shipments/v1/shipment_pb.js";
import { type End, ENDS } from "./route.ts";
import { useWorkspace } from "../api/session.ts";
import type { Tone } from "../ui/description-list.tsx";
import { dateOf, spanText } from "../ui/format.ts";
import { useNow } from "../ui/values.tsx";
import { windowOf } from "./windows.ts";
import "./shipments.css";

interface Delay {
  /** Pickup or dropoff whose deadline is missed first. */
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
 * Returns a function that computes a shipment's current or expected delay, `undefined` if it is not late. The deadlines
 * are the ends of its windows, or without windows its maximum age. `GetAttention` applies the same rule.
 */
export function useDelayOf() {
  const now = useNow();
  const { lateAfterMinutes } = useWorkspace();
  return (shipment: Shipment): Delay | undefined => {
    const { createdAt, pickupWindow, dropoffWindow } = shipment;
    const maxAge = new Date(Number(timestampDate(createdAt!)) + lateAfterMinutes * 60_000);
    const missed = ENDS.flatMap((end) => {
      const window = shipment[`${end}Window` as const];
      const due = window ? windowOf(window).end : (pickupWindow ?? dropoffWindow) ? undefined : maxAge;
      const eta = window && etaAt(end, shipment);
      const at = eta && eta > now ? eta : now;
      return isAhead(end, shipment) && due && at > due ? [{ end, due, at }] : [];
    });
    return missed.toSorted((one, other) => Number(one.due) - Number(other.due))[0];
  };
}

/** Returns the expected arrival, `undefined` after the arrival or if unknown. */
function etaAt(end: End, shipment: Shipment): Date | undefined {
  const eta = shipment[`${end}Eta` as const];
  const hasArrived = shipment.stage === (end === "pickup" ? DeliveryStage.AT_PICKUP : DeliveryStage.AT_DROPOFF);
  return hasArrived ? undefined : eta && timestampDate(eta);
}

const DAY_MS = 86_400_000;

/** Returns the color of a delay: amber below one day, red from one day. */
export function toneOf({ due, at }: Delay): Tone {
  return Number(at) - Number(due) >= DAY_MS ? "bad" : "attention";
}

/** Shows a delay, such as "Late 2 days". Only the duration is colored. */
export function Late({ delay }: { readonly delay: Delay }) {
  return (
    <>
      Late <span class={`late ${toneOf(delay)}`}>{spanText(delay.due, delay.at)}</span>
    </>
  );
}

/**
 * Shows the delay at the pickup or dropoff. Without a delay and a window, shows the waiting time, such as "Waiting 2 hr".
 *
 * @param props.withDropoff whether a pickup that is ahead also shows a delay of the dropoff
 */
export function Lateness(props: { readonly end: End; readonly shipment: Shipment; readonly withDropoff?: boolean }) {
  const { end, shipment, withDropoff = false } = props;
  const now = useNow();
  const delay = useDelayOf()(shipment);
  const ahead = isAhead(end, shipment);
  if (delay) return delay.end === end || (withDropoff && end === "pickup" && ahead) ? <Late delay={delay} /> : null;
  if (shipment[`${end}Window` as const] !== undefined || !ahead) return null;
  return <>Waiting {spanText(dateOf(shipment.createdAt!), now)}</>;
}
