import {
  type GetShipmentRequestValid,
  type GetShipmentResponse,
} from "../../../gen/shipments/v1/shipment_service_pb.js";
import type { Call } from "../../pipeline/call.ts";
import { LazyResponse } from "../../pipeline/rpc-response.ts";
import type { ShipmentDeps } from "./change-shipment.ts";
import { shipmentJson, shipmentMessage } from "./shipment-message.ts";

/**
 * Gives one shipment of the workspace.
 *
 * @throws Refusal SHIPMENT_NOT_FOUND
 */
export async function getShipment(
  request: GetShipmentRequestValid,
  { caller }: Call,
  { findShipment }: Pick<ShipmentDeps, "findShipment">,
): Promise<LazyResponse<GetShipmentResponse>> {
  const row = await findShipment({ workspace: caller.workspaceId, reference: request.shipment });
  return new LazyResponse(
    () => ({ $typeName: "shipments.v1.GetShipmentResponse", data: shipmentMessage(row, caller) }),
    () => ({ data: shipmentJson(row, caller) }),
  );
}
