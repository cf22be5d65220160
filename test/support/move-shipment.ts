import { Shipment } from "../../src/features/shipments/shipment.entity.ts";
import type { ShipmentState } from "../../src/domain/shipment/shipment-state.ts";
import type { TestService } from "./service.ts";

/** Puts a shipment into a state, as payment and couriers would. */
export async function moveShipment(
  { app }: TestService,
  reference: string,
  state: ShipmentState,
): Promise<void> {
  const cancelledAt = state.status === "cancelled" ? new Date() : null;
  await app.em.fork().nativeUpdate(Shipment, { reference }, { ...state, cancelledAt });
}
