import { create } from "@bufbuild/protobuf";
import {
  type RecordPaymentRequestValid,
  type RecordPaymentResponse,
  RecordPaymentResponseSchema,
  ShipmentService,
} from "../../../gen/shipments/v1/shipment_service_pb.js";
import { columnsOf, insertionOf } from "../../db/columns.ts";
import type { Transaction } from "../../db/transaction.ts";
import { toMajor } from "../../domain/pricing/money.ts";
import { Refusal, type Violation } from "../../domain/refusal.ts";
import { applyTrigger } from "../shipments/change-shipment.ts";
import { shipmentMessage } from "../shipments/shipment-message.ts";
import type { ShipmentRow } from "../shipments/shipment-row.ts";
import type { Call } from "../../pipeline/call.ts";
import type { ShipmentDeps } from "../shipments/change-shipment.ts";
import type { PaymentProviderName } from "../workspaces/payment-connection.entity.ts";
import { Payment } from "./payment.entity.ts";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  PaymentSchema,
  type Payment as PaymentMessage,
} from "../../../gen/shipments/v1/payment_pb.js";

/**
 * Records that a shipment was paid: a pending one then awaits its pickup; the payment of one that
 * was cancelled meanwhile is kept, to be refunded.
 *
 * @throws Refusal SHIPMENT_NOT_FOUND, SHIPMENT_STATE (it is paid already), PAYMENT_MISMATCH (amount
 * or currency are not the shipment's total)
 */
export async function recordPayment(
  request: RecordPaymentRequestValid,
  call: Call,
  { changeShipment, now }: Pick<ShipmentDeps, "changeShipment" | "now">,
): Promise<RecordPaymentResponse> {
  const workspace = call.caller.workspaceId;
  let payment: NewPayment;
  return changeShipment({
    method: ShipmentService.method.recordPayment,
    request,
    call,
    load: (tx) => loadProvider(tx, workspace),
    change(row, provider) {
      const paidAt = now();
      const paid = applyTrigger(row, "pay", paidAt);
      assertTotal(row, request);
      payment = { provider, amountMinor: row.totalMinor, currency: row.currency, paidAt };
      return paid;
    },
    write: (tx) => insertPayment(tx, workspace, request.shipment, payment),
    respond: (row) =>
      create(RecordPaymentResponseSchema, {
        data: shipmentMessage(row),
        payment: paymentMessage(payment),
      }),
  });
}

function assertTotal(
  { totalMinor, currency }: ShipmentRow,
  paid: { readonly amount: number; readonly currency: string },
): void {
  const total = toMajor(totalMinor, currency);
  const violations: Violation[] = [];
  if (paid.amount !== total) {
    violations.push(mismatch("amount", `amount must be the shipment's total, which is ${total}.`));
  }
  if (paid.currency !== currency) {
    violations.push(mismatch("currency", `currency must be the shipment's, which is ${currency}.`));
  }
  if (violations.length > 0) throw new Refusal(violations as [Violation, ...Violation[]]);
}

function mismatch(subject: string, text: string): Violation {
  return { reason: "PAYMENT_MISMATCH", subject, text };
}

/**
 * The provider that a workspace has connected. One that disconnected since it booked still gets its
 * payments recorded, as manual ones: a payment is never turned away.
 */
async function loadProvider(tx: Transaction, workspace: number): Promise<PaymentProviderName> {
  const sql = "select provider from payment_connection where workspace_id = $1";
  const [row] = await tx.send<{ provider: PaymentProviderName }>(sql, [workspace]);
  return row?.provider ?? "manual";
}

const insertion = insertionOf("payment", columnsOf(Payment, "workspace", "refundedAt"));

/**
 * Sends the payment of a shipment that the transaction has locked, to be written. By a statement, since
 * it takes MikroORM's unit of work longer than all the rest of recording it.
 */
function insertPayment(
  tx: Transaction,
  workspace: number,
  reference: string,
  payment: NewPayment,
): void {
  void tx.send(...insertion(workspace, [{ ...payment, shipment: reference }]));
}

/** A payment that is not refunded. */
export type NewPayment = Pick<Payment, "provider" | "amountMinor" | "currency" | "paidAt">;

/** A payment as callers see it, with its amount in major units. */
export function paymentMessage(
  payment: NewPayment & Partial<Pick<Payment, "refundedAt">>,
): PaymentMessage {
  return create(PaymentSchema, {
    provider: payment.provider,
    amount: toMajor(payment.amountMinor, payment.currency),
    currency: payment.currency,
    paidAt: timestampFromDate(payment.paidAt),
    refundedAt: payment.refundedAt ? timestampFromDate(payment.refundedAt) : undefined,
  });
}
