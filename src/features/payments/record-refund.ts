import { create } from "@bufbuild/protobuf";
import {
  RecordRefundResponseSchema,
  ShipmentService,
  type RecordRefundRequestValid,
  type RecordRefundResponse,
} from "../../../gen/shipments/v1/shipment_service_pb.js";
import { applyTrigger } from "../shipments/change-shipment.ts";
import { shipmentMessage } from "../shipments/shipment-message.ts";
import type { Call } from "../../pipeline/call.ts";
import { paymentMessage } from "./record-payment.ts";
import type { PaymentDeps } from "./payment-provider.ts";
import { Payment } from "./payment.entity.ts";

/**
 * Records that the payment of a cancelled shipment was refunded.
 *
 * @throws Refusal SHIPMENT_NOT_FOUND, SHIPMENT_STATE (no payment waits to be refunded),
 * PAYMENT_MISMATCH (the provider has not refunded it)
 */
export async function recordRefund(
  request: RecordRefundRequestValid,
  call: Call,
  { changeShipment, findProvider, now }: PaymentDeps,
): Promise<RecordRefundResponse> {
  const workspace = call.caller.workspaceId;
  const { shipment: reference } = request;
  const provider = await findProvider(workspace);
  await provider.confirmRefund({ workspaceId: workspace, shipment: reference });
  let payment: Payment;
  return changeShipment({
    method: ShipmentService.method.recordRefund,
    request,
    call,
    async change(row, tx) {
      const refundedAt = now();
      const refunded = applyTrigger(row, "refund", refundedAt);
      payment = await tx.findOneOrFail(Payment, { workspace, shipment: [workspace, reference] });
      // Two processes' clocks may differ by more than the time between payment and refund.
      payment.refundedAt = refundedAt < payment.paidAt ? payment.paidAt : refundedAt;
      return refunded;
    },
    respond: (row) =>
      create(RecordRefundResponseSchema, {
        data: shipmentMessage(row),
        payment: paymentMessage(payment),
      }),
  });
}
