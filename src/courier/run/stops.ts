import { type End, isLate, isOpen, type Shipment, visitOf } from "./shipment.ts";

/** A shipment to pick up or deliver at a stop. */
export interface Task {
  readonly shipment: Shipment;
  readonly end: End;
}

/** A place with everything to do there in one visit. */
export interface Stop {
  readonly place: string;
  readonly tasks: readonly [Task, ...Task[]];
}

/**
 * Returns the stops ahead in the order of the shipments. Pickups and dropoffs at the same place form one stop, except
 * that no shipment is delivered before the stop at which it is picked up.
 */
export function stopsOf(shipments: readonly Shipment[]): Stop[] {
  const stops: { place: string; tasks: [Task, ...Task[]] }[] = [];
  const visit = (task: Task, earliest: number): number => {
    const place = placeOf(task);
    const index = stops.findIndex((stop, at) => at >= earliest && stop.place === place);
    if (index >= 0) stops[index]!.tasks.push(task);
    return index >= 0 ? index : stops.push({ place, tasks: [task] }) - 1;
  };
  for (const shipment of shipments.filter(isOpen)) {
    const isWaiting = shipment.status === "awaiting_pickup";
    const pickup = isWaiting ? visit({ shipment, end: "pickup" }, 0) : -1;
    visit({ shipment, end: "dropoff" }, pickup + 1);
  }
  return stops;
}

/** Identifies a place by its address and its point, to about ten meters. */
function placeOf({ shipment, end }: Task): string {
  const { address, lat, lng } = visitOf(shipment, end);
  return `${lat.toFixed(4)} ${lng.toFixed(4)} ${address.trim().toLowerCase()}`;
}

/** Returns the tasks of a stop that can be done now. Dropoffs wait until the shipment is picked up. */
export function tasksNow({ tasks }: Stop): Task[] {
  return tasks.filter(({ shipment, end }) => end === "pickup" || shipment.status === "in_transit");
}

export function isLateStop({ tasks }: Stop, nowMs: number): boolean {
  return tasks.some(({ shipment, end }) => isLate(shipment, end, nowMs));
}
