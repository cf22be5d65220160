import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  BatchRecordPaymentsResponseSchema,
  type BatchRecordPaymentsRequestValid,
  type BatchRecordPaymentsResponse,
} from "../../../gen/shipments/v1/batch_pb.js";
import {
  PaymentSchema,
  type Payment as PaymentMessage,
} from "../../../gen/shipments/v1/payment_pb.js";
import {
  type RecordPaymentRequestValid,
  type RecordPaymentResponse,
  RecordPaymentResponseSchema,
  ShipmentService,
} from "../../../gen/shipments/v1/shipment_service_pb.js";
import type { Transaction } from "../../db/transaction.ts";
import { toMajor } from "../../domain/pricing/money.ts";
import { refuse, refuseAny, type Violation } from "../../domain/refusal.ts";
import type { Call } from "../../pipeline/call.ts";
import { changeAfterAsking, ProviderFirst } from "../shipments/ask-provider-first.ts";
import { applyTrigger, type Changed, type ShipmentDeps } from "../shipments/change-shipment.ts";
import { shipmentMessage } from "../shipments/shipment-message.ts";
import type { ShipmentRow } from "../shipments/shipment-row.ts";
import type { PaymentProviderName } from "../workspaces/payment-connection.entity.ts";
import { MANUAL, type PaymentProviders } from "./payment-providers.ts";
import type { Payment } from "./payment.entity.ts";
import {
  type AskAboutPayment,
  byCallersWord,
  insertPayment,
  IS_AT_CONNECTED,
  type NewPayment,
  paidAtMsOf,
  type StoredPayment,
} from "./stored-payment.ts";

/** What recording payments and refunds needs. */
export type RecordDeps = Pick<ShipmentDeps, "changeShipment" | "changeBatch"> & {
  readonly providers: PaymentProviders;
  readonly askAboutPayment: AskAboutPayment;
};

/**
 * Records that a shipment was paid: a pending one then awaits its pickup; the payment of one that
 * was cancelled meanwhile is kept, to be refunded. Where a provider takes the money online, it is asked,
 * and its word alone counts, as long as the account that was to be paid is connected.
 *
 * @throws Refusal SHIPMENT_NOT_FOUND, SHIPMENT_STATE (it is paid already), PAYMENT_MISMATCH (amount
 * or currency are not the shipment's total), PAYMENT_NOT_CONFIRMED, and what asking the provider throws
 */
export async function recordPayment(
  request: RecordPaymentRequestValid,
  call: Call,
  { changeShipment, providers, askAboutPayment }: RecordDeps,
): Promise<RecordPaymentResponse> {
  const key = { workspace: call.caller.workspaceId, reference: request.shipment };
  const record = (asked?: ProviderFirst) =>
    changeShipment({
      ...paymentChange(request, call, { providers, isAsked: asked !== undefined }),
      method: ShipmentService.method.recordPayment,
      request,
      respond: (row, payment) =>
        create(RecordPaymentResponseSchema, {
          data: shipmentMessage(row, call.caller),
          payment: paymentMessage(payment),
        }),
    });
  return changeAfterAsking(record, () => askAboutPayment(key));
}

/**
 * Records several payments; the result of one that is refused says why. No provider is asked: what one takes
 * online is refused unless it has said already that it was paid.
 */
export function batchRecordPayments(
  request: BatchRecordPaymentsRequestValid,
  call: Call,
  { changeBatch, providers }: RecordDeps,
): Promise<BatchRecordPaymentsResponse> {
  return changeBatch({
    method: ShipmentService.method.batchRecordPayments,
    request,
    call,
    changes: request.payments.map((payment) => {
      const { change, ...rest } = paymentChange(payment, call, { providers, isAsked: false });
      return { ...rest, change: unconfirmed(change) };
    }),
    pathOf: (place) => `payments[${place}].shipment`,
    respond: (results) => create(BatchRecordPaymentsResponseSchema, { results }),
  });
}

/** A change that is refused where a provider would have to be asked, which takes too long for a batch. */
function unconfirmed<Change extends (...given: never[]) => unknown>(change: Change): Change {
  return ((...given: Parameters<Change>) => {
    try {
      return change(...given);
    } catch (error) {
      throw error instanceof ProviderFirst ? refuse("PAYMENT_NOT_CONFIRMED") : error;
    }
  }) as Change;
}

/** What was paid, in major units, and for which shipment. */
interface Paid {
  readonly shipment: string;
  readonly amount: number;
  readonly currency: string;
}

/** The change that a payment is to its shipment; it makes the payment. */
function paymentChange(
  request: Paid,
  call: Call,
  deps: Pick<RecordDeps, "providers"> & { readonly isAsked: boolean },
) {
  const workspace = call.caller.workspaceId;
  return {
    request,
    call,
    load: (tx: Transaction) => loadRecorded(tx, workspace, request.shipment),
    change(row: ShipmentRow, recorded: Recorded, paidAt: Date): Changed<NewPayment> {
      if (deps.isAsked) {
        assertTotal(row, request);
        return { row, made: confirmedPayment(recorded) };
      }
      const paid = applyTrigger(row, "pay", paidAt);
      assertTotal(row, request);
      const isOnline = deps.providers[recorded.provider].online !== undefined;
      // A provider can say nothing of a payment of nothing.
      if (row.totalMinor > 0 && (recorded.isAtConnected ?? isOnline)) throw new ProviderFirst(row);
      const provider = isOnline ? MANUAL.name : recorded.provider;
      const { totalMinor: amountMinor, currency } = row;
      return { row: byCallersWord(paid), made: { provider, amountMinor, currency, paidAt } };
    },
    write: (tx: Transaction, payment: NewPayment) =>
      insertPayment(tx, workspace, request.shipment, payment),
  };
}

/** @throws Refusal PAYMENT_NOT_CONFIRMED when the provider has not said that it was paid */
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

/** What recording a payment depends on. */
interface Recorded {
  /**
   * The provider that the workspace has connected. One that disconnected since it booked still gets its
   * payments recorded, as manual ones: a payment is never turned away.
   */
  readonly provider: PaymentProviderName;
  /** Whether the account that the shipment's checkout pays is the connected one; null when there is no checkout. */
  readonly isAtConnected: boolean | null;
  /** The payment that is recorded already; null when there is none. */
  readonly payment: StoredPayment | null;
}

const LOAD_RECORDED = `
  select (select provider from payment_connection where workspace_id = $1) as provider,
    ${IS_AT_CONNECTED} as "isAtConnected",
    (select json_build_object('provider', provider, 'amountMinor', amount_minor, 'currency', currency,
       'paidAtMs', ${paidAtMsOf("payment")})
     from payment where workspace_id = $1 and shipment_reference = $2) as payment`;

async function loadRecorded(
  tx: Transaction,
  workspace: number,
  shipment: string,
): Promise<Recorded> {
  type Loaded = Omit<Recorded, "provider"> & { readonly provider: PaymentProviderName | null };
  const [row] = await tx.send<Loaded>(LOAD_RECORDED, [workspace, shipment]);
  return { ...row!, provider: row!.provider ?? MANUAL.name };
}

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
