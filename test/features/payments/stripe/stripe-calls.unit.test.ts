import { expect, test } from "vitest";
import { ProviderUnavailable } from "../../../../src/features/payments/payment-provider.ts";
import type { CompletedCall } from "../../../../src/features/payments/stripe/stripe-calls.ts";
import { createStripe } from "../../../../src/features/payments/stripe/stripe.ts";
import { startStripe } from "../../../stripe/stand-in.ts";

const stripe = await startStripe({ livemode: true });
const account = stripe.addAccount();
const access = { mode: "live", account, ownKey: undefined } as const;
const CHECKOUT = {
  workspace: 7,
  shipment: "SHP-4T8ZK2M0QWXE",
  amountMinor: 1_269,
  currency: "USD",
  successUrl: "https://shop.example.org/paid",
  cancelUrl: "https://shop.example.org/cart",
};

function connect(timeoutMs?: number) {
  const calls: CompletedCall[] = [];
  const { online } = createStripe({
    apiUrl: stripe.url,
    platforms: { live: { secretKey: stripe.secretKey, webhookSecrets: [] } },
    installation: async () => "an-installation",
    onCall: (call) => calls.push(call),
    onUnknownStatus: () => undefined,
    timeoutMs,
  });
  return { online: online!, calls };
}

test("times out a call whose response never ends", async () => {
  const { online, calls } = connect(200);
  stripe.fault("GET /v1/accounts", "dripping");
  await expect(online.readAccount(access)).rejects.toThrow(ProviderUnavailable);
  expect(calls).toMatchObject([{ operation: "read_account", outcome: "unanswered" }]);
});

test("treats a 200 response without a Stripe object as no response", async () => {
  const { online } = connect();
  const attempt = { ...CHECKOUT, expiresAt: new Date(Date.now() + 60 * 60_000) };
  const open = () => online.openCheckout(access, attempt, "key");
  stripe.fault("POST /v1/checkout/sessions", "garbled");
  await expect(open()).rejects.toThrow(ProviderUnavailable);
  const { checkout } = await open();
  expect(stripe.books(account).sessions.size).toBe(1);
  stripe.pay(checkout);
  const find = () => online.findPayment(access, checkout);
  for (const line of ["checkout/sessions", "payment_intents", "disputes"]) {
    stripe.fault(`GET /v1/${line}`, "garbled");
    await expect(find(), line).rejects.toThrow(ProviderUnavailable);
  }
  await expect(find()).resolves.toMatchObject({ status: "paid", amountMinor: 1_269 });
  const urls = { returnUrl: attempt.successUrl, refreshUrl: attempt.cancelUrl };
  const span = { from: new Date(), to: new Date() };
  for (const [line, ask] of [
    ["GET /v1/accounts", () => online.readAccount(access)],
    ["POST /v1/account_links", () => online.createOnboardingLink(access, urls)],
    ["GET /v1/events", () => online.listEvents(access, span)],
  ] as const) {
    stripe.fault(line, "garbled");
    await expect(ask(), line).rejects.toThrow(ProviderUnavailable);
  }
});
