import { create } from "@bufbuild/protobuf";
import {
  CancelShipmentResponseSchema,
  ShipmentService,
  type CancelShipmentRequestValid,
  type CancelShipmentResponse,
} from "../../../gen/shipments/v1/shipment_service_pb.js";
import { withIdempotency } from "../idempotency/with-idempotency.ts";
import type { Call } from "../../pipeline/call.ts";
import { applyTrigger, changeShipment } from "./change-shipment.ts";
import type { ShipmentDeps } from "./shipment-deps.ts";
import { cancelReasonOf, shipmentMessage } from "./shipment-message.ts";

/**
 * Cancels a shipment that is pending or awaits pickup; a reason and a note are optional.
 *
 * @throws Refusal SHIPMENT_NOT_FOUND, SHIPMENT_STATE
 */
export function cancelShipment(
  request: CancelShipmentRequestValid,
  call: Call,
  { em, now }: ShipmentDeps,
): Promise<CancelShipmentResponse> {
  const { workspaceId } = call.caller;
  return withIdempotency(em, ShipmentService.method.cancelShipment, request, call, async (tx) => {
    const cancelled = await changeShipment(tx, workspaceId, request.shipment, (shipment) => {
      const cancelledAt = now();
      applyTrigger(shipment, "cancel", cancelledAt);
      shipment.cancelledAt = cancelledAt;
      shipment.cancelReason = cancelReasonOf(request.reason) ?? null;
      shipment.cancelNote = request.note ?? null;
      return shipment;
    });
    return create(CancelShipmentResponseSchema, { data: shipmentMessage(cancelled) });
  });
}
