import { columnsOf, insertionOf } from "../../db/columns.ts";
import type { Transaction } from "../../db/transaction.ts";
import { refuse } from "../../domain/refusal.ts";
import { NO_PAYMENT_DETAILS, type PaymentDetails } from "../../domain/shipment/payment-details.ts";
import { applyTrigger } from "../shipments/change-shipment.ts";
import type { ShipmentKey } from "../shipments/find-shipment.ts";
import type { ShipmentRow } from "../shipments/shipment-row.ts";
import { isUnpaid } from "./apply-snapshot.ts";
import { Payment } from "./payment.entity.ts";

export type StoredPayment = Pick<Payment, "provider" | "amountMinor" | "currency"> & {
  readonly paidAtMs: number;
  readonly refundedAtMs?: number | null;
};

/** Returns SQL for the time of a payment, in milliseconds since the epoch. */
export function paidAtMsSql(table: string): string {
  return `(extract(epoch from ${table}.paid_at) * 1000)::float8`;
}

/**
 * SQL for whether a shipment's checkout belongs to the connected account. Only then can it be polled. Null if there is
 * no checkout. `$1` is the workspace, `$2` the shipment.
 */
export const IS_AT_CONNECTED_ACCOUNT = `
  (select account is not distinct from
     (select account from payment_connection where workspace_id = $1)
   from provider_payment where workspace_id = $1 and shipment_reference = $2)`;

/** Clears the checkout and errors of a shipment whose payment or refund was recorded manually. */
export function applyManualRecord(row: ShipmentRow): ShipmentRow {
  if (row.paymentDetails === null) return row;
  const { accepted: _, ...details } = withoutUncounted(row.paymentDetails);
  const reset = { checkout: null, processing: false, error: null, refundError: null };
  return { ...row, paymentDetails: { ...details, ...reset } };
}

/** @throws Refusal PAYMENT_DISPUTED if an open dispute blocks refunds */
export function assertRefundable({ paymentDetails }: Pick<ShipmentRow, "paymentDetails">): void {
  if (paymentDetails?.dispute === "open" && !paymentDetails.disputeRefundable) {
    throw refuse("PAYMENT_DISPUTED");
  }
}

/**
 * Refunds a shipment in test mode without confirmation by a provider. Refunds the amount that was
 * not lost in disputes.
 *
 * @throws Refusal SHIPMENT_STATE if no refund is due, PAYMENT_DISPUTED
 */
export function refundInTestMode(row: ShipmentRow, at: Date): ShipmentRow {
  const refunded = applyTrigger(row, "refund", at);
  assertRefundable(row);
  const details = row.paymentDetails ?? NO_PAYMENT_DETAILS;
  const refundedMinor = row.totalMinor - (details.disputedMinor ?? 0);
  return applyManualRecord({ ...refunded, paymentDetails: { ...details, refundedMinor } });
}

export function withoutUncounted(details: PaymentDetails): PaymentDetails {
  const { uncounted: _, unseen: __, ...others } = details;
  return others;
}

/**
 * Reads a shipment's payment from its provider and applies it.
 *
 * @throws Refusal UNAVAILABLE, PAYMENT_PROVIDER_REFUSED, PAYMENT_PROVIDER_NOT_CONFIGURED
 */
export type PollPayment = (key: ShipmentKey) => Promise<unknown>;

const insertion = insertionOf("payment", columnsOf(Payment, "workspace", "refundedAt"));

/**
 * Queues the insert of a payment. The transaction must hold the lock on the shipment. Uses a plain
 * statement, because MikroORM's unit of work would take longer than the rest of the call.
 */
export function insertPayment(tx: Transaction, { workspace, reference }: ShipmentKey, payment: NewPayment): void {
  void tx.send(...insertion(workspace, [{ ...payment, shipment: reference }]));
}

export type NewPayment = Pick<Payment, "provider" | "amountMinor" | "currency" | "paidAt">;

const SET_REFUNDED = `
  update payment set refunded_at = greatest($3::timestamptz, paid_at)
  where workspace_id = $1 and shipment_reference = $2`;
const SET_NOT_REFUNDED = `
  update payment set refunded_at = null where workspace_id = $1 and shipment_reference = $2`;

/** Queues an update of a payment's refund time, null if the payment is not refunded. */
export function setRefunded(tx: Transaction, { workspace, reference }: ShipmentKey, at: Date | null): void {
  if (at === null) void tx.send(SET_NOT_REFUNDED, [workspace, reference]);
  // The refund time is never before the payment time, although the clocks of two processes can differ.
  else void tx.send(SET_REFUNDED, [workspace, reference, at.toISOString()]);
}

/** Queues the insert or update of a payment after its shipment changed. */
export function writePayment(
  tx: Transaction,
  key: ShipmentKey,
  provider: Payment["provider"],
  { before, row, at }: PaymentChange,
): void {
  if (isUnpaid(before) && !isUnpaid(row)) {
    const { totalMinor: amountMinor, currency } = row;
    insertPayment(tx, key, { provider, amountMinor, currency, paidAt: at });
  }
  const [was, is] = [before, row].map(({ paymentStatus }) => paymentStatus === "refunded");
  if (was !== is) setRefunded(tx, key, is ? at : null);
}

/** A shipment before and after its payment changed, and the time of the change. */
export interface PaymentChange {
  readonly before: ShipmentRow;
  readonly row: ShipmentRow;
  readonly at: Date;
}
