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
import type { Transaction } from "../../db/transaction.ts";
import type { ShipmentDeps } from "../shipments/change-shipment.ts";
import { type NewPayment, paymentMessage } from "./record-payment.ts";

/**
 * Records that the payment of a cancelled shipment was refunded.
 *
 * @throws Refusal SHIPMENT_NOT_FOUND, SHIPMENT_STATE (no payment waits to be refunded)
 */
export async function recordRefund(
  request: RecordRefundRequestValid,
  call: Call,
  { changeShipment, now }: Pick<ShipmentDeps, "changeShipment" | "now">,
): Promise<RecordRefundResponse> {
  const workspace = call.caller.workspaceId;
  const { shipment } = request;
  let refunded: NewPayment & { readonly refundedAt: Date };
  return changeShipment({
    method: ShipmentService.method.recordRefund,
    request,
    call,
    load: (tx) => loadPayment(tx, workspace, shipment),
    change(row, payment) {
      const at = now();
      const after = applyTrigger(row, "refund", at);
      // Two processes' clocks may differ by more than the time between payment and refund.
      refunded = { ...payment!, refundedAt: at < payment!.paidAt ? payment!.paidAt : at };
      return after;
    },
    write(tx) {
      const values = [workspace, shipment, refunded.refundedAt.toISOString()];
      void tx.send(SET_REFUNDED, values);
    },
    respond: (row) =>
      create(RecordRefundResponseSchema, {
        data: shipmentMessage(row),
        payment: paymentMessage(refunded),
      }),
  });
}

const SET_REFUNDED = `
  update payment set refunded_at = $3 where workspace_id = $1 and shipment_reference = $2`;

const SELECT_PAYMENT = `
  select provider, amount_minor::float8 as "amountMinor", currency,
    (extract(epoch from paid_at) * 1000)::float8 as "paidAtMs"
  from payment where workspace_id = $1 and shipment_reference = $2`;

type StoredPayment = Omit<NewPayment, "paidAt"> & { readonly paidAtMs: number };

/** The payment of a shipment; undefined when there is none. */
async function loadPayment(
  tx: Transaction,
  workspace: number,
  shipment: string,
): Promise<NewPayment | undefined> {
  const [found] = await tx.send<StoredPayment>(SELECT_PAYMENT, [workspace, shipment]);
  return found && { ...found, paidAt: new Date(found.paidAtMs) };
}
