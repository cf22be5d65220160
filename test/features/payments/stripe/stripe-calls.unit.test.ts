import { expect, test } from "vitest";
import { ProviderUnanswered } from "../../../../src/features/payments/payment-provider.ts";
import type { EndedCall } from "../../../../src/features/payments/stripe/stripe-calls.ts";
import { createStripe } from "../../../../src/features/payments/stripe/stripe.ts";
import { startStripe } from "../../../stripe/stand-in.ts";

const stripe = await startStripe({ livemode: true });
const account = stripe.addAccount();
const access = { mode: "live", account, ownKey: undefined } as const;

function connect(timeoutMs?: number) {
  const calls: EndedCall[] = [];
  const { online } = createStripe({
    apiUrl: stripe.url,
    platforms: { live: { secretKey: stripe.secretKey, webhookSecrets: [] } },
    onCall: (call) => calls.push(call),
    timeoutMs,
  });
  return { online: online!, calls };
}

test("a call whose answer drips without end is ended by its own limit", async () => {
  const { online, calls } = connect(200);
  stripe.fault("GET /v1/accounts", "dripping");
  await expect(online.readAccount(access)).rejects.toThrow(ProviderUnanswered);
  expect(calls).toMatchObject([{ operation: "read_account", outcome: "unanswered" }]);
});
