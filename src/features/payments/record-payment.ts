import { create } from "@bufbuild/protobuf";
import {
  type RecordPaymentRequestValid,
  type RecordPaymentResponse,
  RecordPaymentResponseSchema,
  ShipmentService,
} from "../../../gen/shipments/v1/shipment_service_pb.js";
import { columnsOf, insertSql, rowsJson } from "../../db/columns.ts";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { toMajor } from "../../domain/pricing/money.ts";
import { Refusal, type Violation } from "../../domain/refusal.ts";
import { applyTrigger } from "../shipments/change-shipment.ts";
import { shipmentMessage } from "../shipments/shipment-message.ts";
import type { ShipmentRow } from "../shipments/shipment-row.ts";
import type { Call } from "../../pipeline/call.ts";
import type { PaymentDeps } from "./payment-provider.ts";
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
  { changeShipment, findProvider, now }: PaymentDeps,
): Promise<RecordPaymentResponse> {
  const workspace = call.caller.workspaceId;
  const { shipment: reference, amount, currency } = request;
  const provider = await findProvider(workspace);
  await provider.confirmPayment({ workspaceId: workspace, shipment: reference, amount, currency });
  let payment: NewPayment;
  return changeShipment({
    method: ShipmentService.method.recordPayment,
    request,
    call,
    change(row) {
      const paidAt = now();
      const paid = applyTrigger(row, "pay", paidAt);
      assertTotal(row, request);
      payment = { provider: provider.name, amountMinor: row.totalMinor, currency, paidAt };
      return paid;
    },
    insert: (tx) => insertPayment(tx, workspace, reference, payment),
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

const COLUMNS = columnsOf(Payment, "refundedAt");
const INSERT = insertSql("payment", COLUMNS, "$1");

/**
 * Inserts the payment of a shipment that the transaction has locked. By a statement, since it takes
 * MikroORM's unit of work longer than all the rest of recording it.
 */
async function insertPayment(
  tx: EntityManager,
  workspace: number,
  reference: string,
  payment: NewPayment,
): Promise<void> {
  const row = { ...payment, workspace, shipment: reference };
  await runStatement(tx, INSERT, [rowsJson(COLUMNS, [row])]);
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
