import { create } from "@bufbuild/protobuf";
import {
  GetShipmentResponseSchema,
  type GetShipmentRequestValid,
  type GetShipmentResponse,
} from "../../../gen/shipments/v1/shipment_service_pb.js";
import type { Call } from "../../pipeline/call.ts";
import { findShipment } from "./find-shipment.ts";
import type { ShipmentDeps } from "./shipment-deps.ts";
import { shipmentMessage } from "./shipment-message.ts";

/**
 * Gives one shipment of the workspace.
 *
 * @throws Refusal SHIPMENT_NOT_FOUND
 */
export async function getShipment(
  request: GetShipmentRequestValid,
  { caller }: Call,
  { em }: ShipmentDeps,
): Promise<GetShipmentResponse> {
  const shipment = await findShipment(em.fork(), caller.workspaceId, request.shipment);
  return create(GetShipmentResponseSchema, { data: shipmentMessage(shipment) });
}
