import { create } from "@bufbuild/protobuf";
import {
  RetryRefundResponseSchema,
  ShipmentService,
  type RetryRefundRequestValid,
  type RetryRefundResponse,
} from "../../../gen/shipments/v1/shipment_service_pb.js";
import { refuse } from "../../domain/refusal.ts";
import type { Call } from "../../pipeline/call.ts";
import type { ShipmentDeps } from "../shipments/change-shipment.ts";
import { shipmentMessage } from "../shipments/shipment-message.ts";
import { retryRefundOf } from "./provider-payments.ts";
import { assertUndisputed } from "./stored-payment.ts";

/**
 * Has the payment provider try a refund again that has failed; it is made soon after.
 *
 * @throws Refusal SHIPMENT_NOT_FOUND, SHIPMENT_STATE (none has failed), PAYMENT_DISPUTED
 */
export function retryRefund(
  request: RetryRefundRequestValid,
  call: Call,
  { changeShipment, now }: Pick<ShipmentDeps, "changeShipment" | "now">,
): Promise<RetryRefundResponse> {
  const key = { workspace: call.caller.workspaceId, reference: request.shipment };
  return changeShipment({
    method: ShipmentService.method.retryRefund,
    request,
    call,
    change(row, _facts, at) {
      const { paymentStatus, paymentDetails } = row;
      if (paymentStatus !== "refund_pending" || paymentDetails === null) {
        throw stateError(`its payment is ${paymentStatus.replace("_", " ")}`);
      }
      assertUndisputed(row);
      if (paymentDetails.refundError === null) throw stateError("its refund is on its way");
      const retried = { ...paymentDetails, refundError: null };
      return { row: { ...row, paymentDetails: retried, updatedAt: at } };
    },
    write: (tx) => retryRefundOf(tx, key, now()),
    respond: (row) =>
      create(RetryRefundResponseSchema, { data: shipmentMessage(row, call.caller) }),
  });
}

function stateError(reason: string) {
  const text = `The refund cannot be tried again because ${reason}.`;
  return refuse("SHIPMENT_STATE", text, { subject: "shipment" });
}
