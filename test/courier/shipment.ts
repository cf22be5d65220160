import type { Shipment } from "../../src/courier/run/shipment.ts";

/** Returns a shipment as the courier's page gets it, by default awaiting pickup. */
export function shipment(fields: Partial<Shipment> = {}): Shipment {
  return {
    reference: "SHP-0000000000ZZ",
    status: "awaiting_pickup",
    stage: "assigned",
    pickup_address: "1 Times Square",
    pickup_lat: 0,
    pickup_lng: 0,
    dropoff_address: "95 Prospect Park West",
    dropoff_lat: 0,
    dropoff_lng: 0,
    weight_kg: 1,
    customer: { name: "Ada Lovelace" },
    recipient_name: null,
    recipient_phone: null,
    pickup_window: null,
    dropoff_window: null,
    pickup_eta: null,
    dropoff_eta: null,
    attempts: [],
    dropoff_verification: "none",
    proof: null,
    ...fields,
  };
}
