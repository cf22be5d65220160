import type { ShipmentDeps } from "../shipments/shipment-deps.ts";
import type { FindProvider } from "./find-provider.ts";

/** What the functions of payments work with. */
export interface PaymentDeps extends Pick<ShipmentDeps, "changeShipment" | "now"> {
  readonly findProvider: FindProvider;
}
