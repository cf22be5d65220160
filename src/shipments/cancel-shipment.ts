import { create } from "@bufbuild/protobuf";
import {
  CancelShipmentResponseSchema,
  type CancelShipmentRequestValid,
  type CancelShipmentResponse,
} from "../../gen/shipments/v1/shipment_service_pb.js";
import type { Call } from "../rpc/caller.ts";
import { applyTrigger, changeShipment } from "./change-shipment.ts";
import type { ShipmentDeps } from "./shipment-deps.ts";
import { cancelReasonOf, shipmentMessage } from "./shipment-message.ts";

/**
 * Cancels a shipment while it is pending or awaits pickup, for the reason given if one is.
 *
 * @throws Refusal SHIPMENT_NOT_FOUND, SHIPMENT_STATE
 */
export async function cancelShipment(
  request: CancelShipmentRequestValid,
  { caller }: Call,
  { em, now }: ShipmentDeps,
): Promise<CancelShipmentResponse> {
  const cancelled = await changeShipment(em, caller.workspaceId, request.shipment, (shipment) => {
    const cancelledAt = now();
    applyTrigger(shipment, "cancel", cancelledAt);
    shipment.cancelledAt = cancelledAt;
    shipment.cancelReason = cancelReasonOf(request.reason) ?? null;
    shipment.cancelNote = request.note ?? null;
    return shipment;
  });
  return create(CancelShipmentResponseSchema, { data: shipmentMessage(cancelled) });
}
