import { create } from "@bufbuild/protobuf";
import {
  BatchAdvanceShipmentsResponseSchema,
  type BatchAdvanceShipmentsRequestValid,
  type BatchAdvanceShipmentsResponse,
} from "../../../gen/shipments/v1/batch_pb.js";
import {
  AdvanceShipmentResponseSchema,
  ShipmentService,
  type AdvanceShipmentRequestValid,
  type AdvanceShipmentResponse,
} from "../../../gen/shipments/v1/shipment_service_pb.js";
import { refuse } from "../../domain/refusal.ts";
import type { ShipmentStatus } from "../../domain/shipment/shipment-state.ts";
import type { Call } from "../../pipeline/call.ts";
import { applyTrigger, type ShipmentDeps } from "./change-shipment.ts";
import { shipmentMessage, statusOf } from "./shipment-message.ts";
import type { ShipmentRow } from "./shipment-row.ts";

/**
 * Takes a shipment one step further: from awaiting pickup to in transit, then to delivered.
 *
 * @throws Refusal SHIPMENT_NOT_FOUND, SHIPMENT_STATE
 */
export function advanceShipment(
  request: AdvanceShipmentRequestValid,
  call: Call,
  { changeShipment }: ShipmentDeps,
): Promise<AdvanceShipmentResponse> {
  return changeShipment({
    method: ShipmentService.method.advanceShipment,
    request,
    call,
    change: advance(),
    respond: (row) =>
      create(AdvanceShipmentResponseSchema, { data: shipmentMessage(row, call.caller) }),
  });
}

/** Takes several shipments one step further; the result of one that is refused says why. */
export function batchAdvanceShipments(
  request: BatchAdvanceShipmentsRequestValid,
  call: Call,
  { changeBatch }: ShipmentDeps,
): Promise<BatchAdvanceShipmentsResponse> {
  return changeBatch({
    method: ShipmentService.method.batchAdvanceShipments,
    request,
    call,
    changes: request.shipments.map((shipment) => ({
      request: { shipment },
      call,
      change: advance(statusOf(request.from)),
    })),
    pathOf: (place) => `shipments[${place}]`,
    respond: (results) => create(BatchAdvanceShipmentsResponseSchema, { results }),
  });
}

/** @param from the status that is expected; undefined for any */
function advance(from?: ShipmentStatus) {
  return (row: ShipmentRow, _facts: unknown, at: Date) => {
    if (from !== undefined && row.status !== from) {
      const text = `The shipment is ${inWords(row.status)}, not ${inWords(from)}.`;
      throw refuse("SHIPMENT_STATE", text, { subject: "shipment" });
    }
    return { row: applyTrigger(row, "advance", at) };
  };
}

function inWords(status: ShipmentStatus): string {
  return status.replace("_", " ");
}
