import { create } from "@bufbuild/protobuf";
import {
  BatchCancelShipmentsResponseSchema,
  type BatchCancelShipmentsRequestValid,
  type BatchCancelShipmentsResponse,
} from "../../../gen/shipments/v1/batch_pb.js";
import {
  CancelShipmentResponseSchema,
  ShipmentService,
  type CancelShipmentRequestValid,
  type CancelShipmentResponse,
} from "../../../gen/shipments/v1/shipment_service_pb.js";
import type { Transaction } from "../../db/transaction.ts";
import type { Call } from "../../pipeline/call.ts";
import { applyTrigger, type ShipmentDeps } from "./change-shipment.ts";
import { cancelReasonOf, shipmentMessage } from "./shipment-message.ts";
import type { ShipmentRow } from "./shipment-row.ts";

/**
 * Cancels a shipment while it is pending or awaits pickup.
 *
 * @throws Refusal SHIPMENT_NOT_FOUND, SHIPMENT_STATE
 */
export function cancelShipment(
  request: CancelShipmentRequestValid,
  call: Call,
  { changeShipment, payments }: ShipmentDeps,
): Promise<CancelShipmentResponse> {
  return changeShipment({
    method: ShipmentService.method.cancelShipment,
    request,
    call,
    ...cancel(request.shipment, request, call, payments),
    respond: (row) =>
      create(CancelShipmentResponseSchema, { data: shipmentMessage(row, call.caller) }),
  });
}

/** Cancels several shipments for one reason; the result of one that is refused says why. */
export function batchCancelShipments(
  request: BatchCancelShipmentsRequestValid,
  call: Call,
  { changeBatch, payments }: ShipmentDeps,
): Promise<BatchCancelShipmentsResponse> {
  return changeBatch({
    method: ShipmentService.method.batchCancelShipments,
    request,
    call,
    changes: request.shipments.map((shipment) => ({
      request: { shipment },
      call,
      ...cancel(shipment, request, call, payments),
    })),
    pathOf: (place) => `shipments[${place}]`,
    respond: (results) => create(BatchCancelShipmentsResponseSchema, { results }),
  });
}

/** The change that a cancellation is to a shipment. */
function cancel(
  reference: string,
  { reason, note }: Pick<CancelShipmentRequestValid, "reason" | "note">,
  call: Call,
  payments: ShipmentDeps["payments"],
) {
  return {
    change(row: ShipmentRow, _facts: unknown, cancelledAt: Date) {
      const cancelled = {
        ...applyTrigger(row, "cancel", cancelledAt),
        cancelledAt,
        cancelReason: cancelReasonOf(reason) ?? null,
        cancelNote: note ?? null,
      };
      return { row: cancelled, made: { isAtProvider: row.paymentDetails !== null } };
    },
    /** At a provider it is refunded, or ended so that nobody pays. */
    write(tx: Transaction, { isAtProvider }: { readonly isAtProvider: boolean }): void {
      if (isAtProvider) payments.wake(tx, { workspace: call.caller.workspaceId, reference });
    },
  };
}
