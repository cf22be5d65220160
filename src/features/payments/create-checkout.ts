import { randomUUID } from "node:crypto";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { causeOf, inPipeline, type Transaction } from "../../db/transaction.ts";
import { refuse, type Refusal } from "../../domain/refusal.ts";
import { stateError, statusText } from "../../domain/shipment/shipment-state.ts";
import { retryAfterProviderCheck, ProviderCheckRequired } from "../shipments/provider-check.ts";
import { lockShipments, shipmentNotFoundError, type ShipmentKey } from "../shipments/find-shipment.ts";
import type { ShipmentDeps, ShipmentFunctions } from "../shipments/shipment-deps.ts";
import type { ShipmentRow } from "../shipments/shipment-row.ts";
import type { ConnectionState, PaymentProviderName } from "../workspaces/payment-connection.entity.ts";
import { assertProviderLimit, parseRedirectUrl, type ConsumeCall } from "./payment-connections.ts";
import { ProviderRefused } from "./payment-provider.ts";
import type { PaymentProviders } from "./payment-providers.ts";
import type { CheckoutState } from "./provider-payment.entity.ts";
import { leaseExpiry } from "./provider-payments.ts";
import { reconcileForCall, type ReconcilePayment } from "./reconcile-payments.ts";

export type CheckoutDeps = Pick<ShipmentDeps, "em" | "changeShipment" | "changeBatch" | "versionFees" | "now"> & {
  readonly providers: PaymentProviders;
  readonly reconcilePayment: ReconcilePayment;
  readonly consumeCall: ConsumeCall;
};

/** Default lifetime of a checkout, in minutes. Providers allow at most one day. */
const DEFAULT_MINUTES = 1_430;
/**
 * Maximum number of attempts to get an open checkout. The first attempt may find that the stored checkout has just
 * expired.
 */
const MAX_TRIES = 2;

/** Returns the open checkout of a shipment, or opens one. */
export const createCheckout: ShipmentFunctions<CheckoutDeps>["createCheckout"] = (request, call, deps) => {
  const { changeShipment, now } = deps;
  const successUrl = parseRedirectUrl(request.successUrl, "success_url");
  const cancelUrl = parseRedirectUrl(request.cancelUrl, "cancel_url");
  const { expiresInMinutes = DEFAULT_MINUTES } = request;
  const key = { workspace: call.caller.workspaceId, reference: request.shipment };
  const findOpen = () =>
    changeShipment({
      method: ShipmentService.method.createCheckout,
      request,
      call,
      change(row) {
        assertPayable(row);
        if (openCheckoutOf(row, now()) === undefined) throw new ProviderCheckRequired(row);
        return { row };
      },
      respond(row) {
        const { url, expiresAtMs } = row.paymentDetails!.checkout!;
        return { checkoutUrl: url, expiresAt: timestampFromMs(expiresAtMs) };
      },
    });
  return retryAfterProviderCheck(findOpen, async () => {
    await assertProviderLimit(deps.consumeCall, "payments", key.workspace);
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const expiresAt = new Date(now().getTime() + expiresInMinutes * 60_000);
      const worker = randomUUID();
      const isNew = await requestCheckout(deps, key, { successUrl, cancelUrl, expiresAt, worker });
      await reconcileOpening(deps.reconcilePayment, key, worker);
      if (isNew) return;
    }
  });
};

function openCheckoutOf({ paymentDetails }: ShipmentRow, at: Date) {
  const checkout = paymentDetails?.checkout ?? undefined;
  return checkout !== undefined && checkout.expiresAtMs > at.getTime() ? checkout : undefined;
}

/**
 * @throws Refusal SHIPMENT_STATE if the shipment does not await payment, or a payment is processing or unassigned
 */
function assertPayable({ status, paymentDetails }: ShipmentRow): void {
  if (status !== "pending") throw notPayable(`it is ${statusText(status)}`);
  if (paymentDetails?.processing) throw notPayable("its payment is processing");
  if (paymentDetails?.uncounted) {
    throw notPayable("it has an unassigned payment, which must be refunded at the payment provider");
  }
}

function notPayable(reason: string): Refusal {
  return stateError(`The shipment cannot be paid because ${reason}.`);
}

/** @throws Refusal CHECKOUT_AMOUNT, and the errors of `reconcileForCall` */
function reconcileOpening(reconcile: ReconcilePayment, key: ShipmentKey, worker: string): Promise<void> {
  const reconcileUnlessFailed: ReconcilePayment = async (...args) => {
    try {
      return await reconcile(...args);
    } catch (error) {
      if (!(error instanceof ProviderRefused)) throw error;
      // The next attempt uses another idempotency key. A checkout that this attempt created cannot be paid, because its
      // URL is unknown.
      if (error.kind === "failed") return "reconciled";
      if (error.kind !== "amount") throw error;
      throw amountRefused(`is not accepted by the payment provider: ${error.message}`);
    }
  };
  return reconcileForCall(reconcileUnlessFailed, key, { worker });
}

function amountRefused(fault: string): Refusal {
  return refuse("CHECKOUT_AMOUNT", `total ${fault}`, { subject: "total" });
}

interface CheckoutRequest {
  readonly successUrl: string;
  readonly cancelUrl: string;
  readonly expiresAt: Date;
  readonly worker: string;
}

/** Payment connection of a workspace. All fields are null without a connection. */
interface Connected {
  readonly provider: PaymentProviderName | null;
  readonly providerState: ConnectionState | null;
  readonly account: string | null;
}

interface KnownCheckout {
  readonly state: CheckoutState;
  readonly account: string;
  readonly hasExpired: boolean;
}

/** Locks the connection, so that the account cannot be disconnected during the transaction. */
const LOCK_CONNECTION = `
  select provider, state as "providerState", account from payment_connection
  where workspace_id = $1 for share`;
const LOCK_CHECKOUT = `
  select state, account, expires_at <= $3::timestamptz as "hasExpired" from provider_payment
  where workspace_id = $1 and shipment_reference = $2 for update`;

/**
 * Inserts a requested checkout, or replaces an expired or closed one. The caller's worker holds the
 * lease from the start, because only the worker that calls the provider receives its error.
 */
const REQUEST = `
  insert into provider_payment (workspace_id, shipment_reference, provider, account, version,
    state, amount_minor, currency, success_url, cancel_url, expires_at, due_at, worker, leased_until,
    told)
  values ($1, $2, $3, $4, 1, 'wanted', $5, $6, $7, $8, $9, $10, $11, $12, true)
  on conflict (workspace_id, shipment_reference) do update set
    provider = excluded.provider, account = excluded.account, version = provider_payment.version + 1,
    state = excluded.state, amount_minor = excluded.amount_minor, currency = excluded.currency,
    success_url = excluded.success_url, cancel_url = excluded.cancel_url,
    expires_at = excluded.expires_at, checkout = null, payment = null, due_at = excluded.due_at,
    worker = excluded.worker, leased_until = excluded.leased_until, told = true, wakes = provider_payment.wakes + 1, failures = 0`;

/**
 * Stores the request for a checkout. If this process crashes, another process opens the checkout after the lease has
 * expired. Keeps an open or requested checkout. A checkout of a previously connected account is replaced once it has
 * expired.
 *
 * @returns whether a new checkout was requested
 * @throws Refusal SHIPMENT_NOT_FOUND, SHIPMENT_STATE, and the errors of `assertCanOpen`
 */
function requestCheckout(
  { em, providers, versionFees, now }: CheckoutDeps,
  key: ShipmentKey,
  { successUrl, cancelUrl, expiresAt, worker }: CheckoutRequest,
): Promise<boolean> {
  const { workspace, reference } = key;
  return inPipeline(em, async (tx) => {
    const [row, [connection], [known]] = await Promise.all([
      lock(tx, key, versionFees),
      tx.send<Connected>(LOCK_CONNECTION, [workspace]),
      tx.send<KnownCheckout>(LOCK_CHECKOUT, [workspace, reference, now().toISOString()]),
    ]);
    assertPayable(row);
    const connected = connection ?? { provider: null, providerState: null, account: null };
    const mayBeOpen = known !== undefined && known.state !== "closed";
    if (mayBeOpen && known.account === connected.account) return false;
    const { totalMinor, currency } = row;
    assertCanOpen(providers, connected, totalMinor, currency);
    if (mayBeOpen && !known.hasExpired) {
      throw notPayable("it may still be paid at the checkout of a disconnected account");
    }
    const times = [expiresAt, now()].map((time) => time.toISOString());
    const { provider, account } = connected;
    const values = [provider, account, totalMinor, currency, successUrl, cancelUrl];
    void tx.send(REQUEST, [workspace, reference, ...values, ...times, worker, leaseExpiry(now())]);
    return true;
  }).catch((error: unknown) => {
    throw causeOf(error);
  });
}

async function lock(tx: Transaction, key: ShipmentKey, versionFees: ShipmentDeps["versionFees"]): Promise<ShipmentRow> {
  const [locked] = await lockShipments(tx, [key], versionFees);
  if (locked === undefined) throw shipmentNotFoundError(key.reference);
  return locked.row;
}

/** @throws Refusal if the workspace's provider cannot open a checkout for this amount */
function assertCanOpen(
  providers: PaymentProviders,
  { provider, providerState }: Connected,
  totalMinor: number,
  currency: string,
): void {
  if (provider === null) throw refuse("PAYMENT_PROVIDER_NOT_CONNECTED");
  const { online } = providers[provider];
  if (online === undefined) throw refuse("CHECKOUT_UNAVAILABLE");
  if (providerState !== "ready") throw refuse("PAYMENT_PROVIDER_NOT_READY");
  const fault = online.amountFault(totalMinor, currency);
  if (fault !== undefined) throw amountRefused(fault);
}
