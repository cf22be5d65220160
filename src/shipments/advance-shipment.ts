import { create } from "@bufbuild/protobuf";
import {
  AdvanceShipmentResponseSchema,
  type AdvanceShipmentRequestValid,
  type AdvanceShipmentResponse,
} from "../../gen/shipments/v1/shipment_service_pb.js";
import type { Call } from "../rpc/caller.ts";
import { applyTrigger, changeShipment } from "./change-shipment.ts";
import type { ShipmentDeps } from "./shipment-deps.ts";
import { shipmentMessage } from "./shipment-message.ts";

/**
 * Takes a shipment one step along its way: awaiting pickup, in transit, delivered.
 *
 * @throws Refusal SHIPMENT_NOT_FOUND, SHIPMENT_STATE
 */
export async function advanceShipment(
  request: AdvanceShipmentRequestValid,
  { caller }: Call,
  { em, now }: ShipmentDeps,
): Promise<AdvanceShipmentResponse> {
  const advanced = await changeShipment(em, caller.workspaceId, request.shipment, (shipment) =>
    applyTrigger(shipment, "advance", now()),
  );
  return create(AdvanceShipmentResponseSchema, { data: shipmentMessage(advanced) });
}
