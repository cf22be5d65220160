import { create } from "@bufbuild/protobuf";
import {
  AdvanceShipmentResponseSchema,
  ShipmentService,
  type AdvanceShipmentRequestValid,
  type AdvanceShipmentResponse,
} from "../../../gen/shipments/v1/shipment_service_pb.js";
import { withIdempotency } from "../idempotency/with-idempotency.ts";
import type { Call } from "../../pipeline/call.ts";
import { applyTrigger, changeShipment } from "./change-shipment.ts";
import type { ShipmentDeps } from "./shipment-deps.ts";
import { shipmentMessage } from "./shipment-message.ts";

/**
 * Takes a shipment one step further: from awaiting pickup to in transit, then to delivered.
 *
 * @throws Refusal SHIPMENT_NOT_FOUND, SHIPMENT_STATE
 */
export function advanceShipment(
  request: AdvanceShipmentRequestValid,
  call: Call,
  { em, now }: ShipmentDeps,
): Promise<AdvanceShipmentResponse> {
  const { workspaceId } = call.caller;
  return withIdempotency(em, ShipmentService.method.advanceShipment, request, call, async (tx) => {
    const advanced = await changeShipment(tx, workspaceId, request.shipment, (shipment) =>
      applyTrigger(shipment, "advance", now()),
    );
    return create(AdvanceShipmentResponseSchema, { data: shipmentMessage(advanced) });
  });
}
