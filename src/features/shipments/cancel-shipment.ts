import { create } from "@bufbuild/protobuf";
import {
  CancelShipmentResponseSchema,
  ShipmentService,
  type CancelShipmentRequestValid,
  type CancelShipmentResponse,
} from "../../../gen/shipments/v1/shipment_service_pb.js";
import type { Call } from "../../pipeline/call.ts";
import { applyTrigger, type ShipmentDeps } from "./change-shipment.ts";
import { cancelReasonOf, shipmentMessage } from "./shipment-message.ts";

/**
 * Cancels a shipment while it is pending or awaits pickup.
 *
 * @throws Refusal SHIPMENT_NOT_FOUND, SHIPMENT_STATE
 */
export function cancelShipment(
  request: CancelShipmentRequestValid,
  call: Call,
  { changeShipment, now }: ShipmentDeps,
): Promise<CancelShipmentResponse> {
  return changeShipment({
    method: ShipmentService.method.cancelShipment,
    request,
    call,
    change(row) {
      const cancelledAt = now();
      return {
        ...applyTrigger(row, "cancel", cancelledAt),
        cancelledAt,
        cancelReason: cancelReasonOf(request.reason) ?? null,
        cancelNote: request.note ?? null,
      };
    },
    respond: (row) => create(CancelShipmentResponseSchema, { data: shipmentMessage(row) }),
  });
}
