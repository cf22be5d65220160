import { type Shipment, ShipmentStatus } from "../../../gen/shipments/v1/shipment_pb.js";
import { type End, pointAt } from "./route.ts";

/** Returns a shipment's next stop: its pickup, or its dropoff once it is in transit. */
export function nextStopOf(shipment: Shipment) {
  const end: End = shipment.status === ShipmentStatus.IN_TRANSIT ? "dropoff" : "pickup";
  return {
    end,
    contact: contactNameOf(end, shipment),
    window: shipment[`${end}Window` as const],
    address: shipment[`${end}Address` as const],
    at: pointAt(shipment, end),
  };
}

/** Whether a shipment has no place in the order of its courier's run. */
export function isUnordered({ courier }: Shipment): boolean {
  return courier?.sequence === undefined;
}

/** Returns the name of the person at the pickup or dropoff, if known. */
export function contactNameOf(end: End, shipment: Shipment): string | undefined {
  const { pickupContactName, recipientName, customer } = shipment;
  return end === "pickup" ? pickupContactName : (recipientName ?? customer?.name);
}
