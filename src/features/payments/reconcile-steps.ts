import { create } from "@bufbuild/protobuf";
import {
  GetShipmentRequestSchema,
  ShipmentService,
} from "../../../gen/shipments/v1/shipment_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import type { CallIn } from "../../pipeline/call.ts";
import type { ChangeShipment } from "../shipments/change-shipment.ts";
import type { ShipmentRow } from "../shipments/shipment-row.ts";
import { type StoredCheckout, remainingAmount, pendingRefundAmount } from "./apply-snapshot.ts";
import {
  type AccountAccess,
  type PaymentSnapshot,
  type OnlinePayments,
  ProviderRefused,
} from "./payment-provider.ts";
import {
  startRefundAttempt,
  storeSnapshot,
  LeaseLost,
  type LeasedPayment,
  type SnapshotFacts,
  storeCallResult,
} from "./provider-payments.ts";
import { writePayment } from "./stored-payment.ts";

/** A leased payment with the access to its account. */
export interface PaymentLease {
  readonly leased: LeasedPayment;
  readonly worker: string;
  readonly online: OnlinePayments;
  readonly access: AccountAccess;
  /** Whether the payment belongs to a test twin. */
  readonly test: boolean;
}

/** The leased payment afterwards, and the error if the provider refused to open the checkout. */
export interface CheckoutAttempt {
  readonly leased: LeasedPayment;
  readonly refused?: ProviderRefused;
}

/**
 * Opens a requested checkout. The response to an earlier call may have been lost, so the same call is repeated.
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
  const wanted = { workspace, shipment, amountMinor, currency, successUrl, cancelUrl, expiresAt };
  try {
    const key = `${workspace}-${shipment}-${version}-checkout`;
    const { checkout } = await online.openCheckout(access, wanted, key);
    return { leased: await storeCallResult(em, leased, worker, { checkout, state: "open" }) };
  } catch (error) {
    if (!(error instanceof ProviderRefused) || error.kind === "revoked") throw error;
    return { leased, refused: error };
  }
}

/** Returns a snapshot that represents a checkout refused by the provider. */
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
 * Requests a refund of the remaining amount. A refusal is stored with the payment.
 *
 * @param attempt the current attempt
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
    const wanted = { payment: snapshot.payment!, amountMinor, currency, attempt };
    await online.refund(access, wanted, key);
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

/** Facts from a snapshot, and the change of the shipment. */
export interface SnapshotChange extends Partial<SnapshotFacts> {
  readonly test: boolean;
  apply(row: ShipmentRow, known: StoredCheckout, at: Date): ShipmentRow;
}

/**
 * Applies a snapshot to a shipment and stores its facts in the same transaction. So if a checkout is stored as
 * closed, the shipment reflects its end. Fails once the lease is lost, because another worker has a newer snapshot.
 *
 * @throws LeaseLost
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
    // If the transaction is retried, the last one is committed.
    respond(_, made) {
      applied = made;
      return {};
    },
  });
  if (applied === undefined) throw new LeaseLost();
  return applied;
}
