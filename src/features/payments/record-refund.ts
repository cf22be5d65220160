import { create } from "@bufbuild/protobuf";
import {
  RecordRefundResponseSchema,
  ShipmentService,
  type RecordRefundRequestValid,
  type RecordRefundResponse,
} from "../../../gen/shipments/v1/shipment_service_pb.js";
import { refuse } from "../../domain/refusal.ts";
import { changeAfterAsking, ProviderFirst } from "../shipments/ask-provider-first.ts";
import { applyTrigger, type Changed } from "../shipments/change-shipment.ts";
import { shipmentMessage } from "../shipments/shipment-message.ts";
import type { ShipmentRow } from "../shipments/shipment-row.ts";
import type { Call } from "../../pipeline/call.ts";
import type { Transaction } from "../../db/transaction.ts";
import { paymentMessage, type RecordDeps } from "./record-payment.ts";
import {
  assertUndisputed,
  byCallersWord,
  IS_AT_CONNECTED,
  paidAtMsOf,
  type NewPayment,
  refundInTestMode,
  setRefunded,
  type StoredPayment,
} from "./stored-payment.ts";

/**
 * Records that the payment of a cancelled shipment was refunded. Where a provider took the money online,
 * it makes the refund, and is asked whether it has, as long as the account that was paid is connected.
 *
 * @throws Refusal SHIPMENT_NOT_FOUND, SHIPMENT_STATE (no payment waits to be refunded), PAYMENT_DISPUTED,
 * PAYMENT_NOT_CONFIRMED, and what asking the provider throws
 */
export async function recordRefund(
  request: RecordRefundRequestValid,
  call: Call,
  { changeShipment, providers, askAboutPayment }: RecordDeps,
): Promise<RecordRefundResponse> {
  const workspace = call.caller.workspaceId;
  const { shipment } = request;
  const record = (asked?: ProviderFirst) =>
    changeShipment({
      method: ShipmentService.method.recordRefund,
      request,
      call,
      load: (tx) => loadPayment(tx, workspace, shipment),
      change(row, payment, at): Changed<Refunded> {
        if (asked !== undefined) return { row, made: confirmedRefund(row, payment!) };
        const after = applyTrigger(row, "refund", at);
        const { provider, isAtConnected } = payment!;
        if (providers[provider].online !== undefined && isAtConnected === true) {
          assertUndisputed(row);
          throw new ProviderFirst(row);
        }
        const paidAt = new Date(payment!.paidAtMs);
        const made = { ...payment!, paidAt, refundedAt: at < paidAt ? paidAt : at };
        if (call.caller.test) return { row: refundInTestMode(row, at), made };
        return { row: byCallersWord(after), made };
      },
      write: (tx, { refundedAt }) => setRefunded(tx, workspace, shipment, refundedAt),
      respond: (row, refunded) =>
        create(RecordRefundResponseSchema, {
          data: shipmentMessage(row, call.caller),
          payment: paymentMessage(refunded),
        }),
    });
  return changeAfterAsking(record, () => askAboutPayment({ workspace, reference: shipment }));
}

/** A payment that went back. */
type Refunded = NewPayment & { readonly refundedAt: Date };

/** @throws Refusal PAYMENT_NOT_CONFIRMED when the provider has not said that it was refunded */
function confirmedRefund(row: ShipmentRow, payment: StoredPayment): Refunded {
  const { paidAtMs, refundedAtMs } = payment;
  if (row.paymentStatus !== "refunded") throw refuse("PAYMENT_NOT_CONFIRMED");
  return { ...payment, paidAt: new Date(paidAtMs), refundedAt: new Date(refundedAtMs!) };
}

const SELECT_PAYMENT = `
  select provider, amount_minor::float8 as "amountMinor", currency,
    ${paidAtMsOf("payment")} as "paidAtMs",
    (extract(epoch from refunded_at) * 1000)::float8 as "refundedAtMs",
    ${IS_AT_CONNECTED} as "isAtConnected"
  from payment where workspace_id = $1 and shipment_reference = $2`;

type LoadedPayment = StoredPayment & { readonly isAtConnected: boolean | null };

/** The payment of a shipment; undefined when there is none. */
async function loadPayment(
  tx: Transaction,
  workspace: number,
  shipment: string,
): Promise<LoadedPayment | undefined> {
  const [found] = await tx.send<LoadedPayment>(SELECT_PAYMENT, [workspace, shipment]);
  return found;
}
