import { create } from "@bufbuild/protobuf";
import {
  RecordPaymentResponseSchema,
  ShipmentService,
  type RecordPaymentRequestValid,
  type RecordPaymentResponse,
} from "../../../gen/shipments/v1/shipment_service_pb.js";
import { toMajor } from "../../domain/pricing/money.ts";
import { Refusal, type Problem } from "../../domain/refusal.ts";
import { withIdempotency } from "../idempotency/with-idempotency.ts";
import type { Call } from "../../pipeline/call.ts";
import { applyTrigger, changeShipment } from "../shipments/change-shipment.ts";
import type { FoundShipment } from "../shipments/find-shipment.ts";
import type { ShipmentDeps } from "../shipments/shipment-deps.ts";
import { shipmentMessage } from "../shipments/shipment-message.ts";
import { findProvider } from "./find-provider.ts";
import { paymentMessage } from "./payment-message.ts";
import { Payment } from "./payment.entity.ts";

/**
 * Records the payment of a shipment. A pending shipment then awaits pickup; a shipment that was
 * cancelled before the payment then waits for its refund.
 *
 * @throws Refusal SHIPMENT_NOT_FOUND, SHIPMENT_STATE (it is paid already), PAYMENT_MISMATCH (amount
 * or currency differ from the shipment's total)
 */
export async function recordPayment(
  request: RecordPaymentRequestValid,
  call: Call,
  { em, now }: ShipmentDeps,
): Promise<RecordPaymentResponse> {
  const { workspaceId } = call.caller;
  const { shipment: reference, amount, currency } = request;
  const provider = await findProvider(em.fork(), workspaceId);
  await provider.confirmPayment({ workspaceId, shipment: reference, amount, currency });
  const method = ShipmentService.method.recordPayment;
  return withIdempotency(em, method, request, call, async (tx) => {
    const recorded = await changeShipment(tx, workspaceId, reference, (shipment) => {
      const paidAt = now();
      applyTrigger(shipment, "pay", paidAt);
      assertPaymentMatches(shipment, request);
      const payment = tx.create(Payment, {
        workspace: workspaceId,
        shipment,
        provider: provider.name,
        amountMinor: shipment.totalMinor,
        currency,
        paidAt,
        refundedAt: null,
      });
      return { shipment, payment };
    });
    return create(RecordPaymentResponseSchema, {
      data: shipmentMessage(recorded.shipment),
      payment: paymentMessage(recorded.payment),
    });
  });
}

function assertPaymentMatches(
  { totalMinor, currency }: FoundShipment,
  paid: { readonly amount: number; readonly currency: string },
): void {
  const total = toMajor(totalMinor, currency);
  const problems: Problem[] = [];
  if (paid.amount !== total) {
    problems.push(
      mismatchProblem("amount", `amount must be the shipment's total, which is ${total}.`),
    );
  }
  if (paid.currency !== currency) {
    problems.push(
      mismatchProblem("currency", `currency must be the shipment's, which is ${currency}.`),
    );
  }
  if (problems.length > 0) throw new Refusal(problems as [Problem, ...Problem[]]);
}

function mismatchProblem(subject: string, text: string): Problem {
  return { reason: "PAYMENT_MISMATCH", subject, text };
}
