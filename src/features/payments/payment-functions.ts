import { PaymentSchema } from "../../../gen/shipments/v1/payment_pb.js";
import { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import type { Transaction } from "../../db/transaction.ts";
import { toMajor } from "../../domain/pricing/money.ts";
import { refuse, refuseAny, type Violation } from "../../domain/refusal.ts";
import { paymentText, stateError } from "../../domain/shipment/shipment-state.ts";
import { compileToMessage } from "../../json/records.ts";
import type { Call } from "../../pipeline/call.ts";
import { applyTrigger, type Changed } from "../shipments/change-shipment.ts";
import type { ShipmentKey } from "../shipments/find-shipment.ts";
import { ProviderCheckRequired, retryAfterProviderCheck } from "../shipments/provider-check.ts";
import type { ShipmentFunctions } from "../shipments/shipment-deps.ts";
import type { ShipmentRow } from "../shipments/shipment-row.ts";
import type { PaymentProviderName } from "../workspaces/payment-connection.entity.ts";
import { type CheckoutDeps, createCheckout } from "./create-checkout.ts";
import { MANUAL, type PaymentProviders } from "./payment-providers.ts";
import type { Payment } from "./payment.entity.ts";
import { scheduleRefundRetry } from "./provider-payments.ts";
import {
  type PollPayment,
  assertRefundable,
  insertPayment,
  type NewPayment,
  paidAtMsSql,
  IS_AT_CONNECTED_ACCOUNT,
  applyManualRecord,
  refundInTestMode,
  setRefunded,
  type StoredPayment,
  withoutUncounted,
} from "./stored-payment.ts";

const { method } = ShipmentService;

export type PaymentDeps = CheckoutDeps & { readonly pollPayment: PollPayment };

export const PAYMENT_FUNCTIONS = {
  createCheckout,

  /**
   * Records a manual payment. A payment for an already cancelled shipment is stored and must be refunded. If
   * the shipment's checkout belongs to the connected account, only the provider can confirm the payment.
   */
  recordPayment(request, call, { changeShipment, providers, pollPayment }) {
    const record = (polled?: ProviderCheckRequired) =>
      changeShipment({
        ...paymentChange(request, call, { providers, isPolled: polled !== undefined }),
        method: method.recordPayment,
        request,
        respond: (_row, payment) => ({ payment: paymentMessage(payment) }),
      });
    return retryAfterProviderCheck(record, () => pollPayment(keyOf(request, call)));
  },

  /** Records payments without provider calls. An online payment is refused unless it is already confirmed. */
  batchRecordPayments: (request, call, { changeBatch, providers }) =>
    changeBatch({
      method: method.batchRecordPayments,
      request,
      call,
      changes: request.payments.map((payment) => {
        const { change, ...rest } = paymentChange(payment, call, { providers, isPolled: false });
        return { ...rest, change: unconfirmed(change) };
      }),
      pathOf: (index) => `payments[${index}].shipment`,
    }),

  /**
   * Records a refund. If the payment belongs to the connected account, the provider makes the
   * refund, and only the provider can confirm it.
   */
  recordRefund(request, call, { changeShipment, providers, pollPayment }) {
    const key = keyOf(request, call);
    const record = (polled?: ProviderCheckRequired) =>
      changeShipment({
        method: method.recordRefund,
        request,
        call,
        load: (tx) => loadPayment(tx, key),
        change(row, payment, at): Changed<Refunded> {
          if (polled !== undefined) return { row, made: confirmedRefund(row, payment!) };
          const after = applyTrigger(row, "refund", at);
          const { provider, isAtConnected } = payment!;
          if (providers[provider].online !== undefined && isAtConnected === true) {
            assertRefundable(row);
            throw new ProviderCheckRequired(row);
          }
          const paidAt = new Date(payment!.paidAtMs);
          const made = { ...payment!, paidAt, refundedAt: at < paidAt ? paidAt : at };
          if (call.caller.test) return { row: refundInTestMode(row, at), made };
          return { row: applyManualRecord(after), made };
        },
        write: (tx, { refundedAt }) => setRefunded(tx, key, refundedAt),
        respond: (_row, refunded) => ({ payment: paymentMessage(refunded) }),
      });
    return retryAfterProviderCheck(record, () => pollPayment(key));
  },

  retryRefund: (request, call, { changeShipment, now }) =>
    changeShipment({
      method: method.retryRefund,
      request,
      call,
      change(row, _facts, at) {
        const { paymentStatus, paymentDetails } = row;
        if (paymentStatus !== "refund_pending" || paymentDetails === null) {
          throw notRetriable(paymentText(paymentStatus));
        }
        assertRefundable(row);
        if (paymentDetails.refundError === null) throw notRetriable("its refund is pending");
        const retried = { ...paymentDetails, refundError: null };
        return { row: { ...row, paymentDetails: retried, updatedAt: at } };
      },
      write: (tx) => scheduleRefundRetry(tx, keyOf(request, call), now()),
    }),

  /** Accepts an unassigned or unverified payment. The payment status does not change. */
  acceptUncountedPayment: (request, call, { changeShipment }) =>
    changeShipment({
      method: method.acceptUncountedPayment,
      request,
      call,
      async load(tx) {
        const { workspace, reference } = keyOf(request, call);
        return (await tx.send<{ version: number }>(SELECT_VERSION, [workspace, reference]))[0];
      },
      change(row, checkout, at) {
        const { paymentDetails } = row;
        const accepted = paymentDetails?.uncounted ?? paymentDetails?.unseen;
        if (paymentDetails === null || accepted === undefined) {
          throw stateError("The shipment has no unassigned payment.");
        }
        const details = { ...withoutUncounted(paymentDetails), accepted };
        // Only the accepted checkout is reset. A later checkout keeps its state.
        const reset = accepted === checkout?.version ? { processing: false, error: null } : {};
        return { row: { ...row, paymentDetails: { ...details, ...reset }, updatedAt: at } };
      },
      audited: ({ paymentDetails }) => ({ accepted_payment: paymentDetails?.accepted }),
    }),
} satisfies Partial<ShipmentFunctions<PaymentDeps>>;

const SELECT_VERSION = `
  select version from provider_payment where workspace_id = $1 and shipment_reference = $2`;

function keyOf({ shipment }: { readonly shipment: string }, { caller }: Call): ShipmentKey {
  return { workspace: caller.workspaceId, reference: shipment };
}

function notRetriable(reason: string) {
  return stateError(`The refund cannot be retried because ${reason}.`);
}

/** Wraps a change to refuse provider calls, which take too long for a batch. */
function unconfirmed<Change extends (...args: never[]) => unknown>(change: Change): Change {
  return ((...args: Parameters<Change>) => {
    try {
      return change(...args);
    } catch (error) {
      throw error instanceof ProviderCheckRequired ? refuse("PAYMENT_NOT_CONFIRMED") : error;
    }
  }) as Change;
}

interface Paid {
  readonly shipment: string;
  readonly amount: number;
  readonly currency: string;
}

function paymentChange(
  request: Paid,
  call: Call,
  deps: { readonly providers: PaymentProviders; readonly isPolled: boolean },
) {
  const key = keyOf(request, call);
  return {
    request,
    call,
    load: (tx: Transaction) => loadRecorded(tx, key),
    change(row: ShipmentRow, recorded: Recorded, paidAt: Date): Changed<NewPayment> {
      if (deps.isPolled) {
        assertTotal(row, request);
        return { row, made: confirmedPayment(recorded) };
      }
      const paid = applyTrigger(row, "pay", paidAt);
      assertTotal(row, request);
      const isOnline = deps.providers[recorded.provider].online !== undefined;
      // Providers do not process payments of 0.
      if (row.totalMinor > 0 && (recorded.isAtConnected ?? isOnline)) throw new ProviderCheckRequired(row);
      const provider = isOnline ? MANUAL.name : recorded.provider;
      const { totalMinor: amountMinor, currency } = row;
      return { row: applyManualRecord(paid), made: { provider, amountMinor, currency, paidAt } };
    },
    write: (tx: Transaction, payment: NewPayment) => insertPayment(tx, key, payment),
  };
}

/** @throws Refusal PAYMENT_NOT_CONFIRMED if the provider has not confirmed the payment */
function confirmedPayment({ payment }: Recorded): NewPayment {
  if (payment === null) throw refuse("PAYMENT_NOT_CONFIRMED");
  return { ...payment, paidAt: new Date(payment.paidAtMs) };
}

function assertTotal({ totalMinor, currency }: ShipmentRow, paid: Paid): void {
  const total = toMajor(totalMinor, currency);
  const violations: Violation[] = [];
  if (paid.amount !== total) {
    violations.push(mismatch("amount", `amount must be the shipment's total, which is ${total}.`));
  }
  if (paid.currency !== currency) {
    violations.push(mismatch("currency", `currency must be the shipment's, which is ${currency}.`));
  }
  refuseAny(violations);
}

function mismatch(subject: string, text: string): Violation {
  return { reason: "PAYMENT_MISMATCH", subject, text };
}

interface Recorded {
  /** The connected provider. Manual if none is connected, so payments can still be recorded after a disconnect. */
  readonly provider: PaymentProviderName;
  /** Whether the shipment's checkout belongs to the connected account. Null if there is no checkout. */
  readonly isAtConnected: boolean | null;
  readonly payment: StoredPayment | null;
}

const LOAD_RECORDED = `
  select (select provider from payment_connection where workspace_id = $1) as provider,
    ${IS_AT_CONNECTED_ACCOUNT} as "isAtConnected",
    (select json_build_object('provider', provider, 'amountMinor', amount_minor, 'currency', currency,
       'paidAtMs', ${paidAtMsSql("payment")})
     from payment where workspace_id = $1 and shipment_reference = $2) as payment`;

async function loadRecorded(tx: Transaction, { workspace, reference }: ShipmentKey): Promise<Recorded> {
  type Row = Omit<Recorded, "provider"> & { readonly provider: PaymentProviderName | null };
  const [row] = await tx.send<Row>(LOAD_RECORDED, [workspace, reference]);
  return { ...row!, provider: row!.provider ?? MANUAL.name };
}

const toMessage = compileToMessage(PaymentSchema);

function paymentMessage(payment: NewPayment & Partial<Pick<Payment, "refundedAt">>) {
  const { amountMinor, currency, refundedAt } = payment;
  return toMessage({ ...payment, amount: toMajor(amountMinor, currency), refundedAt });
}

type Refunded = NewPayment & { readonly refundedAt: Date };

/** @throws Refusal PAYMENT_NOT_CONFIRMED if the provider has not confirmed the refund */
function confirmedRefund(row: ShipmentRow, payment: StoredPayment): Refunded {
  const { paidAtMs, refundedAtMs } = payment;
  if (row.paymentStatus !== "refunded") throw refuse("PAYMENT_NOT_CONFIRMED");
  return { ...payment, paidAt: new Date(paidAtMs), refundedAt: new Date(refundedAtMs!) };
}

const SELECT_PAYMENT = `
  select provider, amount_minor::float8 as "amountMinor", currency,
    ${paidAtMsSql("payment")} as "paidAtMs",
    (extract(epoch from refunded_at) * 1000)::float8 as "refundedAtMs",
    ${IS_AT_CONNECTED_ACCOUNT} as "isAtConnected"
  from payment where workspace_id = $1 and shipment_reference = $2`;

type PaymentRow = StoredPayment & { readonly isAtConnected: boolean | null };

async function loadPayment(tx: Transaction, { workspace, reference }: ShipmentKey) {
  return (await tx.send<PaymentRow>(SELECT_PAYMENT, [workspace, reference]))[0];
}
