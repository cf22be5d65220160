import {
  GetShipmentResponseSchema,
  type GetShipmentRequestValid,
} from "../../../gen/shipments/v1/shipment_service_pb.js";
import type { Call } from "../../pipeline/call.ts";
import { compileResponse } from "../../pipeline/rpc-response.ts";
import type { ShipmentDeps } from "./change-shipment.ts";
import { shipmentRecord } from "./shipment-message.ts";

const respond = compileResponse(GetShipmentResponseSchema);

/** @throws Refusal SHIPMENT_NOT_FOUND */
export async function getShipment(
  request: GetShipmentRequestValid,
  { caller }: Call,
  { findShipment }: Pick<ShipmentDeps, "findShipment">,
) {
  const row = await findShipment({ workspace: caller.workspaceId, reference: request.shipment });
  return respond({ data: shipmentRecord(row, caller) });
}
