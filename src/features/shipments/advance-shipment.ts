import { create } from "@bufbuild/protobuf";
import {
  AdvanceShipmentResponseSchema,
  ShipmentService,
  type AdvanceShipmentRequestValid,
  type AdvanceShipmentResponse,
} from "../../../gen/shipments/v1/shipment_service_pb.js";
import type { Call } from "../../pipeline/call.ts";
import { applyTrigger, type ShipmentDeps } from "./change-shipment.ts";
import { shipmentMessage } from "./shipment-message.ts";

/**
 * Takes a shipment one step further: from awaiting pickup to in transit, then to delivered.
 *
 * @throws Refusal SHIPMENT_NOT_FOUND, SHIPMENT_STATE
 */
export function advanceShipment(
  request: AdvanceShipmentRequestValid,
  call: Call,
  { changeShipment, now }: ShipmentDeps,
): Promise<AdvanceShipmentResponse> {
  return changeShipment({
    method: ShipmentService.method.advanceShipment,
    request,
    call,
    change: (row) => applyTrigger(row, "advance", now()),
    respond: (row) => create(AdvanceShipmentResponseSchema, { data: shipmentMessage(row) }),
  });
}
