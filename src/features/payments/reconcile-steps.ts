import { create } from "@bufbuild/protobuf";
import { GetShipmentRequestSchema, ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import type { CallIn } from "../../pipeline/call.ts";
import type { ChangeShipment } from "../shipments/change-shipment.ts";
import type { ShipmentRow } from "../shipments/shipment-row.ts";
import { type StoredCheckout, remainingAmount, pendingRefundAmount } from "./apply-snapshot.ts";
import { type AccountAccess, type PaymentSnapshot, type OnlinePayments, ProviderRefused } from "./payment-provider.ts";
import {
  startRefundAttempt,
  storeSnapshot,
  LeaseLost,
  type LeasedPayment,
  type SnapshotFacts,
  storeCallResult,
} from "./provider-payments.ts";
import { writePayment } from "./stored-payment.ts";

export interface PaymentLease {
  readonly leased: LeasedPayment;
  readonly worker: string;
  readonly online: OnlinePayments;
  readonly access: AccountAccess;
  readonly test: boolean;
}

/** Result of opening a checkout: the updated payment, and the error if the provider refused. */
export interface CheckoutAttempt {
  readonly leased: LeasedPayment;
  readonly refused?: ProviderRefused;
}

/**
 * Opens a requested checkout. Repeats the call with the same key if the earlier response was lost.
 *
 * @throws ProviderUnavailable; ProviderRefused if the account is inaccessible; LeaseLost
 */
export async function openRequestedCheckout(
  em: EntityManager,
  { leased, worker, online, access }: PaymentLease,
): Promise<CheckoutAttempt> {
  if (leased.state !== "wanted") return { leased };
  const { workspace, shipment, version, amountMinor, currency } = leased;
  const { successUrl, cancelUrl } = leased;
  const expiresAt = new Date(leased.expiresAtMs);
  const request = { workspace, shipment, amountMinor, currency, successUrl, cancelUrl, expiresAt };
  try {
    const key = `${workspace}-${shipment}-${version}-checkout`;
    const { checkout } = await online.openCheckout(access, request, key);
    return { leased: await storeCallResult(em, leased, worker, { checkout, state: "open" }) };
  } catch (error) {
    if (!(error instanceof ProviderRefused) || error.kind === "revoked") throw error;
    return { leased, refused: error };
  }
}

/** Returns a snapshot for a checkout that the provider refused to open. */
export function refusalSnapshot({ message }: ProviderRefused, currency: string): PaymentSnapshot {
  return {
    openedAt: null,
    checkout: null,
    status: "failed",
    error: message,
    reference: null,
    payment: null,
    amountMinor: 0,
    currency,
    refunds: [],
    dispute: null,
    isRefundBlocked: false,
    lostMinor: 0,
  };
}

/**
 * Requests a refund of the remaining amount. Stores a refusal with the payment.
 *
 * @param attempt number of the current attempt, from 1
 * @throws ProviderUnavailable; ProviderRefused if the account is inaccessible; LeaseLost
 */
export async function requestRefund(
  em: EntityManager,
  { leased, worker, online, access }: PaymentLease,
  snapshot: PaymentSnapshot,
  attempt: number,
): Promise<LeasedPayment> {
  const { workspace, shipment } = leased;
  const { currency } = snapshot;
  const amountMinor = remainingAmount(snapshot) - pendingRefundAmount(snapshot);
  const key = `${workspace}-${shipment}-${attempt}-refund`;
  try {
    const request = { payment: snapshot.payment!, amountMinor, currency, attempt };
    await online.refund(access, request, key);
    return leased;
  } catch (error) {
    if (!(error instanceof ProviderRefused) || error.kind === "revoked") throw error;
    if (error.kind === "failed") {
      await startRefundAttempt(em, leased, worker);
      return leased;
    }
    const refundRefusal = `The refund was refused: ${error.message}`;
    return storeCallResult(em, { ...leased, refundAttempt: attempt }, worker, { refundRefusal });
  }
}

export interface ApplyDeps {
  readonly changeShipment: ChangeShipment;
  readonly callIn: CallIn;
}

export interface AppliedSnapshot {
  readonly row: ShipmentRow;
  readonly refundAttempt: number;
}

/** Data of a snapshot to store, and the resulting change of the shipment. */
export interface SnapshotChange extends Partial<SnapshotFacts> {
  readonly test: boolean;
  apply(row: ShipmentRow, known: StoredCheckout, at: Date): ShipmentRow;
}

/**
 * Applies a snapshot to a shipment and stores the state of the payment in the same transaction. A checkout is therefore
 * never stored as closed while the shipment still shows it as open.
 *
 * @throws LeaseLost if the lease was lost, because another worker has a newer snapshot
 */
export async function applyToShipment(
  { changeShipment, callIn }: ApplyDeps,
  leased: LeasedPayment,
  worker: string,
  { apply, test, ...facts }: SnapshotChange,
): Promise<AppliedSnapshot> {
  const { workspace, shipment, provider } = leased;
  let applied: AppliedSnapshot | undefined;
  await changeShipment({
    method: ShipmentService.method.getShipment,
    request: create(GetShipmentRequestSchema, { shipment }),
    call: await callIn(workspace, test),
    load: (tx) => storeSnapshot(tx, leased, worker, facts),
    change(before, stored, at) {
      if (stored === undefined) return { row: before, made: undefined };
      const row = apply(before, { ...leased, ...stored }, at);
      return { row, made: { at, before, row, refundAttempt: stored.refundAttempt } };
    },
    write(tx, made) {
      writePayment(tx, { workspace, reference: shipment }, provider, made!);
    },
    // Each retry of the transaction overwrites the value, so the last one belongs to the committed transaction.
    respond(_, made) {
      applied = made;
      return {};
    },
  });
  if (applied === undefined) throw new LeaseLost();
  return applied;
}
