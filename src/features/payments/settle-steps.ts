import { create } from "@bufbuild/protobuf";
import {
  GetShipmentRequestSchema,
  ShipmentService,
} from "../../../gen/shipments/v1/shipment_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import type { CallIn } from "../../pipeline/call.ts";
import type { ChangeShipment } from "../shipments/change-shipment.ts";
import type { ShipmentRow } from "../shipments/shipment-row.ts";
import { type KnownPayment, leftOf, refundingOf } from "./apply-found.ts";
import {
  type AccountAccess,
  type FoundPayment,
  type OnlinePayments,
  ProviderRefused,
} from "./payment-provider.ts";
import {
  countRefundAttempt,
  keepLearnt,
  LeaseLost,
  type LeasedPayment,
  type Learnt,
  notePayment,
} from "./provider-payments.ts";
import { writePayment } from "./stored-payment.ts";

/** A payment that a worker has leased, with how to act on it. */
export interface PaymentLease {
  readonly leased: LeasedPayment;
  readonly worker: string;
  readonly online: OnlinePayments;
  readonly access: AccountAccess;
  /** Whether the payment is one of a test twin. */
  readonly test: boolean;
}

/** The payment as it is leased afterwards, and why the provider refused to open the checkout, if it did. */
export interface OpenedCheckout {
  readonly leased: LeasedPayment;
  readonly refused?: ProviderRefused;
}

/**
 * Opens a checkout that is wanted. The answer to an earlier call may have been lost: it is repeated as it was.
 *
 * @throws ProviderUnanswered; ProviderRefused when the account is not open to us any more; LeaseLost
 */
export async function openWantedCheckout(
  em: EntityManager,
  { leased, worker, online, access }: PaymentLease,
): Promise<OpenedCheckout> {
  if (leased.state !== "wanted") return { leased };
  const { workspace, shipment, version, amountMinor, currency } = leased;
  const { successUrl, cancelUrl } = leased;
  const expiresAt = new Date(leased.expiresAtMs);
  const wanted = { workspace, shipment, amountMinor, currency, successUrl, cancelUrl, expiresAt };
  try {
    const key = `${workspace}-${shipment}-${version}-checkout`;
    const { checkout } = await online.openCheckout(access, wanted, key);
    return { leased: await notePayment(em, leased, worker, { checkout, state: "open" }) };
  } catch (error) {
    if (!(error instanceof ProviderRefused) || error.kind === "revoked") throw error;
    return { leased, refused: error };
  }
}

/** A checkout that the provider refused to open, as if it had been read there. */
export function refusedCheckout({ message }: ProviderRefused, currency: string): FoundPayment {
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
 * Asks a provider for a refund of what has not gone back yet; what it refuses is kept with the payment.
 *
 * @param attempt the attempt that counts now
 * @throws ProviderUnanswered; ProviderRefused when the account is not open to us any more; LeaseLost
 */
export async function refundAtProvider(
  em: EntityManager,
  { leased, worker, online, access }: PaymentLease,
  found: FoundPayment,
  attempt: number,
): Promise<LeasedPayment> {
  const { workspace, shipment } = leased;
  const { currency } = found;
  const amountMinor = leftOf(found) - refundingOf(found);
  const key = `${workspace}-${shipment}-${attempt}-refund`;
  try {
    const wanted = { payment: found.payment!, amountMinor, currency, attempt };
    await online.refund(access, wanted, key);
    return leased;
  } catch (error) {
    if (!(error instanceof ProviderRefused) || error.kind === "revoked") throw error;
    if (error.kind === "failed") {
      await countRefundAttempt(em, leased, worker);
      return leased;
    }
    const refundRefusal = `The refund was refused: ${error.message}`;
    return notePayment(em, { ...leased, refundAttempt: attempt }, worker, { refundRefusal });
  }
}

export interface ApplyDeps {
  readonly changeShipment: ChangeShipment;
  readonly callIn: CallIn;
}

export interface Applied {
  readonly row: ShipmentRow;
  readonly refundAttempt: number;
}

/** What was read at the provider, and what that makes of the shipment. */
export interface ToApply extends Partial<Learnt> {
  readonly test: boolean;
  apply(row: ShipmentRow, known: KnownPayment, at: Date): ShipmentRow;
}

/**
 * Applies what was read at the provider, and stores it in the same transaction: a checkout that is closed here is
 * one whose end the shipment knows. Nothing is done once the lease is lost: what another worker read is newer.
 *
 * @throws LeaseLost
 */
export async function applyToShipment(
  { changeShipment, callIn }: ApplyDeps,
  leased: LeasedPayment,
  worker: string,
  { apply, test, ...learnt }: ToApply,
): Promise<Applied> {
  const { workspace, shipment, provider } = leased;
  let applied: Applied | undefined;
  await changeShipment({
    method: ShipmentService.method.getShipment,
    request: create(GetShipmentRequestSchema, { shipment }),
    call: await callIn(workspace, test),
    load: (tx) => keepLearnt(tx, leased, worker, learnt),
    change(before, kept, at) {
      if (kept === undefined) return { row: before, made: undefined };
      const row = apply(before, { ...leased, ...kept }, at);
      return { row, made: { at, before, row, refundAttempt: kept.refundAttempt } };
    },
    write(tx, made) {
      writePayment(tx, { workspace, reference: shipment }, provider, made!);
    },
    // The last of what may be several transactions is the one that is committed.
    respond(_, made) {
      applied = made;
      return {};
    },
  });
  if (applied === undefined) throw new LeaseLost();
  return applied;
}
