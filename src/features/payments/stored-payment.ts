import { columnsOf, insertionOf } from "../../db/columns.ts";
import type { Transaction } from "../../db/transaction.ts";
import { refuse } from "../../domain/refusal.ts";
import { NO_PAYMENT_DETAILS, type PaymentDetails } from "../../domain/shipment/payment-details.ts";
import { applyTrigger } from "../shipments/change-shipment.ts";
import type { ShipmentKey } from "../shipments/find-shipment.ts";
import type { ShipmentRow } from "../shipments/shipment-row.ts";
import { isUnpaid } from "./apply-found.ts";
import { Payment } from "./payment.entity.ts";

/** The payment of a shipment as it is stored, with its times in milliseconds. */
export type StoredPayment = Pick<Payment, "provider" | "amountMinor" | "currency"> & {
  readonly paidAtMs: number;
  readonly refundedAtMs?: number | null;
};

/** SQL for when a payment was made, in milliseconds. */
export function paidAtMsOf(table: string): string {
  return `(extract(epoch from ${table}.paid_at) * 1000)::float8`;
}

/**
 * SQL for whether a shipment's checkout pays the account that is connected; null when it has no checkout.
 * Its provider can be asked about that alone. $1 is the workspace, $2 the shipment.
 */
export const PAYS_CONNECTED_ACCOUNT = `
  (select account is not distinct from
     (select account from payment_connection where workspace_id = $1)
   from provider_payment where workspace_id = $1 and shipment_reference = $2)`;

/** A shipment whose payment or refund was recorded manually, so that no checkout of it matters any more. */
export function recordedManually(row: ShipmentRow): ShipmentRow {
  if (row.paymentDetails === null) return row;
  const { accepted: _, ...details } = withoutUncounted(row.paymentDetails);
  const reset = { checkout: null, processing: false, error: null, refundError: null };
  return { ...row, paymentDetails: { ...details, ...reset } };
}

/** @throws Refusal PAYMENT_DISPUTED while an open dispute of the payment blocks refunds */
export function assertRefundable({ paymentDetails }: Pick<ShipmentRow, "paymentDetails">): void {
  if (paymentDetails?.dispute === "open" && !paymentDetails.disputeRefundable) {
    throw refuse("PAYMENT_DISPUTED");
  }
}

/**
 * A shipment that is refunded in test mode, where the caller's word is taken for the provider's: all of the payment
 * goes back that no dispute has taken.
 *
 * @throws Refusal SHIPMENT_STATE when no refund is due, PAYMENT_DISPUTED
 */
export function refundInTestMode(row: ShipmentRow, at: Date): ShipmentRow {
  const refunded = applyTrigger(row, "refund", at);
  assertRefundable(row);
  const details = row.paymentDetails ?? NO_PAYMENT_DETAILS;
  const refundedMinor = row.totalMinor - (details.disputedMinor ?? 0);
  return recordedManually({ ...refunded, paymentDetails: { ...details, refundedMinor } });
}

/** What a provider says of a payment, without money that does not count, or may have been paid unseen. */
export function withoutUncounted(details: PaymentDetails): PaymentDetails {
  const { uncounted: _, unseen: __, ...others } = details;
  return others;
}

/**
 * Asks the payment provider about a shipment's payment, and applies the result.
 *
 * @throws Refusal UNAVAILABLE, PAYMENT_PROVIDER_REFUSED, PAYMENT_PROVIDER_NOT_CONFIGURED
 */
export type AskAboutPayment = (key: ShipmentKey) => Promise<unknown>;

const insertion = insertionOf("payment", columnsOf(Payment, "workspace", "refundedAt"));

/**
 * Sends the payment of a shipment that the transaction has locked, to be written. By a statement, since
 * it takes MikroORM's unit of work longer than all the rest of recording it.
 */
export function insertPayment(
  tx: Transaction,
  { workspace, reference }: ShipmentKey,
  payment: NewPayment,
): void {
  void tx.send(...insertion(workspace, [{ ...payment, shipment: reference }]));
}

export type NewPayment = Pick<Payment, "provider" | "amountMinor" | "currency" | "paidAt">;

const SET_REFUNDED = `
  update payment set refunded_at = greatest($3::timestamptz, paid_at)
  where workspace_id = $1 and shipment_reference = $2`;
const SET_NOT_REFUNDED = `
  update payment set refunded_at = null where workspace_id = $1 and shipment_reference = $2`;

/** Sends when a payment went back, to be written; null for one that did not. */
export function setRefunded(
  tx: Transaction,
  { workspace, reference }: ShipmentKey,
  at: Date | null,
): void {
  if (at === null) void tx.send(SET_NOT_REFUNDED, [workspace, reference]);
  // Two processes' clocks may differ by more than the time between payment and refund.
  else void tx.send(SET_REFUNDED, [workspace, reference, at.toISOString()]);
}

/** Sends what a change of a shipment makes of its payment, to be written. */
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

/** A shipment before and after a change of its payment, and when that was. */
export interface PaymentChange {
  readonly before: ShipmentRow;
  readonly row: ShipmentRow;
  readonly at: Date;
}
