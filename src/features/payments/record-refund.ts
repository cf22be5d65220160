import { create } from "@bufbuild/protobuf";
import {
  RecordRefundResponseSchema,
  ShipmentService,
  type RecordRefundRequestValid,
  type RecordRefundResponse,
} from "../../../gen/shipments/v1/shipment_service_pb.js";
import { withIdempotency } from "../idempotency/with-idempotency.ts";
import type { Call } from "../../pipeline/call.ts";
import { applyTrigger, changeShipment } from "../shipments/change-shipment.ts";
import type { ShipmentDeps } from "../shipments/shipment-deps.ts";
import { shipmentMessage } from "../shipments/shipment-message.ts";
import { findProvider } from "./find-provider.ts";
import { paymentMessage } from "./payment-message.ts";
import { Payment } from "./payment.entity.ts";

/**
 * Records the refund of a cancelled shipment that was paid.
 *
 * @throws Refusal SHIPMENT_NOT_FOUND, SHIPMENT_STATE (no refund is pending)
 */
export async function recordRefund(
  request: RecordRefundRequestValid,
  call: Call,
  { em, now }: ShipmentDeps,
): Promise<RecordRefundResponse> {
  const { workspaceId } = call.caller;
  const { shipment: reference } = request;
  const provider = await findProvider(em.fork(), workspaceId);
  await provider.confirmRefund({ workspaceId, shipment: reference });
  const method = ShipmentService.method.recordRefund;
  return withIdempotency(em, method, request, call, async (tx) => {
    const recorded = await changeShipment(tx, workspaceId, reference, async (shipment) => {
      const refundedAt = now();
      applyTrigger(shipment, "refund", refundedAt);
      const payment = await tx.findOneOrFail(Payment, { workspace: workspaceId, shipment });
      // The payment's time may come from another replica, whose clock may be ahead.
      payment.refundedAt = refundedAt < payment.paidAt ? payment.paidAt : refundedAt;
      return { shipment, payment };
    });
    return create(RecordRefundResponseSchema, {
      data: shipmentMessage(recorded.shipment),
      payment: paymentMessage(recorded.payment),
    });
  });
}
