import type Stripe from "stripe";
import type { Mode } from "../../../domain/mode.ts";
import type { ConnectionState } from "../../workspaces/payment-connection.entity.ts";
import {
  type AccountAccess,
  type AccountSnapshot,
  type ModeAccess,
  type NewCheckout,
  type ProviderEvent,
  type EventRecipient,
  type SigningSecrets,
  type OnlinePayments,
  type PaymentProvider,
  ProviderRefused,
  type SignedEvent,
} from "../payment-provider.ts";
import { stripeAmountFault, toStripeAmount } from "./stripe-amounts.ts";
import { createStripeCalls, type StripeCall, type StripeCallOptions, stripeKeyFault } from "./stripe-calls.ts";
import { LISTED_EVENT_TYPES, TOLERANCE_SECONDS, toProviderEvent } from "./stripe-event.ts";
import { paymentSnapshot, type StripePayment } from "./stripe-payment.ts";

/** Maximum number of requirements that are stored for an account. */
const MAX_MISSING = 50;

/** Creates the Stripe provider, which uses checkout pages and direct charges on the workspaces' accounts. */
export function createStripe(options: StripeCallOptions): PaymentProvider {
  const { call } = createStripeCalls(options);
  const online: OnlinePayments = {
    platformFault: (mode) => (options.platforms[mode] ? undefined : NO_PLATFORM[mode]),
    keyFault: stripeKeyFault,
    signatureHeader: "stripe-signature",
    createAccount: (mode, workspace, idempotencyKey) =>
      call("create_account", { mode }, async (stripe, installation) => {
        const account = await stripe.accounts.create(
          {
            controller: {
              fees: { payer: "account" },
              losses: { payments: "stripe" },
              requirement_collection: "stripe",
              stripe_dashboard: { type: "full" },
            },
            metadata: { installation, workspace: String(workspace) },
          },
          { idempotencyKey: `${installation}-${idempotencyKey}` },
        );
        return accountOf(account);
      }),
    createOnboardingLink: (access, { returnUrl, refreshUrl }) =>
      call("create_account_link", access, async (stripe) => {
        const link = await stripe.accountLinks.create({
          account: access.account,
          type: "account_onboarding",
          return_url: returnUrl,
          refresh_url: refreshUrl,
        });
        assertIs("account_link", link);
        return { url: link.url, expiresAt: new Date(link.expires_at * 1_000) };
      }),
    readAccount: (access) =>
      call("read_account", access, async (stripe) => accountOf(await readAccount(stripe, access))).catch(
        (error: unknown) => revokedAccount(error, access),
      ),
    amountFault: stripeAmountFault,
    ...paymentCalls(call, options.onUnknownStatus),
    listEvents: (access, { from, to, after }) =>
      call("list_notices", access, async (stripe) => {
        const [gte, lte] = [from, to].map((time) => Math.floor(time.getTime() / 1_000));
        const page = after === undefined ? {} : { starting_after: after };
        const span = { created: { gte: gte!, lte: lte! }, types: LISTED_EVENT_TYPES, limit: 100 };
        const listed = await stripe.events.list({ ...span, ...page }, contextOf(access));
        const { data, has_more } = assertIs("list", listed);
        const events = data.map(toProviderEvent).filter((event) => event !== undefined);
        return { events, next: has_more ? data.at(-1)?.id : undefined };
      }),
    readEvent: (delivery, owner) => readEvent(delivery, owner, options.platforms),
  };
  return { name: "stripe", online };
}

const NO_PLATFORM: Readonly<Record<Mode, string>> = {
  live: "The platform has no account at Stripe.",
  test: "The platform has no account in Stripe's test mode. Set a test key for this workspace.",
};

function paymentCalls(
  call: StripeCall,
  onUnknownStatus: StripeCallOptions["onUnknownStatus"],
): Pick<OnlinePayments, "openCheckout" | "expireCheckout" | "findPayment" | "refund"> {
  return {
    openCheckout: (access, checkout, idempotencyKey) =>
      call("open_checkout", access, async ({ checkout: { sessions } }, installation) => {
        const options = {
          idempotencyKey: `${installation}-${idempotencyKey}`,
          ...contextOf(access),
        };
        const session = await sessions.create(sessionParams(checkout, installation), options);
        return { checkout: assertIs("checkout.session", session).id };
      }),
    async expireCheckout(access, checkout) {
      const end = call("end_checkout", access, ({ checkout: { sessions } }) =>
        sessions.expire(checkout, {}, contextOf(access)),
      );
      await end.catch((error: unknown) => {
        // The checkout has already expired or was paid. The next poll shows which.
        if (!(error instanceof ProviderRefused) || error.kind === "revoked") throw error;
      });
    },
    findPayment: (access, checkout) =>
      call("find_payment", access, async (stripe) =>
        paymentSnapshot(await readPayment(stripe, checkout, contextOf(access)), onUnknownStatus),
      ),
    refund: (access, { payment, amountMinor, currency, attempt }, idempotencyKey) =>
      call("refund", access, async ({ refunds }, installation) => {
        const amount = toStripeAmount(amountMinor, currency);
        const metadata = { installation, attempt: String(attempt) };
        const options = {
          idempotencyKey: `${installation}-${idempotencyKey}`,
          ...contextOf(access),
        };
        await refunds.create({ payment_intent: payment, amount, metadata }, options);
      }),
  };
}

/** Returns the request options that select the account for a call with the platform's key. */
function contextOf({ account, ownKey }: AccountAccess): Stripe.RequestOptions {
  return ownKey === undefined ? { stripeContext: account } : {};
}

function sessionParams(checkout: NewCheckout, installation: string): Stripe.Checkout.SessionCreateParams {
  const { workspace, shipment, amountMinor, currency } = checkout;
  const metadata = { installation, workspace: String(workspace), shipment };
  return {
    mode: "payment",
    client_reference_id: shipment,
    metadata,
    payment_intent_data: { metadata, description: `Shipment ${shipment}` },
    line_items: [
      {
        quantity: 1,
        price_data: {
          currency: currency.toLowerCase(),
          unit_amount: toStripeAmount(amountMinor, currency),
          product_data: { name: `Shipment ${shipment}` },
        },
      },
    ],
    success_url: checkout.successUrl,
    cancel_url: checkout.cancelUrl,
    expires_at: Math.floor(checkout.expiresAt.getTime() / 1_000),
  };
}

/** Maximum number of refunds that are read for a payment. */
const MAX_REFUNDS = 1_000;

async function readPayment(stripe: Stripe, checkout: string, options: Stripe.RequestOptions): Promise<StripePayment> {
  const session = assertIs("checkout.session", await stripe.checkout.sessions.retrieve(checkout, {}, options));
  const id = typeof session.payment_intent === "string" ? session.payment_intent : session.payment_intent?.id;
  if (id === undefined) return { session, intent: null, refunds: [], disputes: [] };
  const intent = assertIs("payment_intent", await stripe.paymentIntents.retrieve(id, {}, options));
  if (intent.status !== "succeeded") return { session, intent, refunds: [], disputes: [] };
  const of = { payment_intent: id, limit: 100 };
  const [refunds, disputes] = await Promise.all([
    stripe.refunds.list(of, options).autoPagingToArray({ limit: MAX_REFUNDS }),
    stripe.disputes.list(of, options),
  ]);
  return { session, intent, refunds, disputes: assertIs("list", disputes).data };
}

/**
 * Returns the response if it has the expected type.
 *
 * @throws Error for any other response with status 200, for example from a proxy. The call is then retried.
 */
function assertIs<T extends { readonly object: string }>(object: T["object"], answer: T): T {
  if (answer.object === object) return answer;
  throw new Error(`Stripe's response is not a ${object}`);
}

/**
 * Verifies and parses a webhook delivery. The matching secret determines the mode.
 *
 * @throws ProviderRefused if no secret matches or the signature is too old
 */
async function readEvent(
  { body, signature, receivedAt }: SignedEvent,
  { own }: EventRecipient,
  platforms: StripeCallOptions["platforms"],
): Promise<ProviderEvent | undefined> {
  const { default: StripeLibrary } = await import("stripe");
  const signers = own === undefined ? signersOf(platforms) : [own];
  const known = signers.flatMap(({ mode, secrets }) => secrets.map((secret) => ({ mode, secret })));
  for (const { mode, secret } of known) {
    let event: Stripe.Event | null;
    try {
      event = StripeLibrary.webhooks.constructEvent(
        body,
        signature,
        secret,
        TOLERANCE_SECONDS,
        undefined,
        receivedAt.getTime(),
      );
    } catch {
      continue;
    }
    // Ignores test events of connected accounts and events of the platform's own account, which a platform's live
    // endpoint also receives.
    if (event?.livemode !== (mode === "live")) return undefined;
    return (own === undefined) === (event.account !== undefined) ? toProviderEvent(event) : undefined;
  }
  throw new ProviderRefused("The event is not signed by the payment provider.", "other");
}

/** Returns the platform's signing secrets, which differ between modes. */
function signersOf(platforms: StripeCallOptions["platforms"]): SigningSecrets[] {
  return (["live", "test"] as const).map((mode) => ({
    mode,
    secrets: platforms[mode]?.webhookSecrets ?? [],
  }));
}

/**
 * Reads an account. An account's own key reads the account that it belongs to, the platform's key
 * reads any account by id.
 */
function readAccount(stripe: Stripe, { account, ownKey }: ModeAccess) {
  return ownKey !== undefined || account === undefined
    ? stripe.accounts.retrieveCurrent()
    : stripe.accounts.retrieve(account);
}

/**
 * Returns a revoked account if access to a known account was revoked.
 *
 * @throws the error otherwise
 */
function revokedAccount(error: unknown, { account }: ModeAccess): AccountSnapshot {
  const isRevoked = error instanceof ProviderRefused && error.kind === "revoked";
  if (!isRevoked || account === undefined) throw error;
  return { account, state: "revoked", missing: [] };
}

function accountOf(account: Stripe.Account): AccountSnapshot {
  const { requirements } = assertIs("account", account);
  const missing = [...(requirements?.past_due ?? []), ...(requirements?.currently_due ?? [])];
  return {
    account: account.id,
    state: stateOf(account),
    missing: [...new Set(missing)].slice(0, MAX_MISSING),
  };
}

function stateOf({ charges_enabled, details_submitted }: Stripe.Account): ConnectionState {
  if (charges_enabled) return "ready";
  return details_submitted ? "restricted" : "onboarding";
}
