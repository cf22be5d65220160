import { expect, test } from "vitest";
import { startStripe } from "./stand-in.ts";
import { clientOf, priced } from "./stripe-client.ts";

test("an account is made, told of on its page, and restricted", async () => {
  const stripe = await startStripe();
  const platform = clientOf(stripe);
  const made = await platform.accounts.create({
    controller: {
      fees: { payer: "account" },
      losses: { payments: "stripe" },
      requirement_collection: "stripe",
      stripe_dashboard: { type: "full" },
    },
    metadata: { workspace: "7" },
  });
  expect(made).toMatchObject({
    charges_enabled: false,
    details_submitted: false,
    metadata: { workspace: "7" },
    requirements: { disabled_reason: "requirements.past_due" },
  });
  const client = clientOf(stripe, { account: made.id });
  await expect(client.checkout.sessions.create(priced(500))).rejects.toThrow(
    "Your account cannot currently make charges.",
  );
  const link = await platform.accountLinks.create({
    account: made.id,
    type: "account_onboarding",
    return_url: "https://example.com/back",
    refresh_url: "https://example.com/again",
  });
  expect(link.url).toContain(made.id);
  expect(link.expires_at).toBe(link.created + 300);
  const chargeable = async () => {
    const { charges_enabled, details_submitted } = await platform.accounts.retrieve(made.id);
    return [charges_enabled, details_submitted];
  };
  stripe.completeOnboarding(made.id);
  expect(await chargeable()).toEqual([true, true]);
  expect((await client.accounts.retrieveCurrent()).id).toBe(made.id);
  expect((await client.checkout.sessions.create(priced(500))).status).toBe("open");
  stripe.restrictAccount(made.id);
  expect(await chargeable()).toEqual([false, true]);
});

test("a connected account reads neither another one nor the platform", async () => {
  const stripe = await startStripe();
  const [one, other] = [stripe.addAccount(), stripe.addAccount()];
  const own = clientOf(stripe, { key: stripe.addKey(one) });
  expect((await own.accounts.retrieve(one)).id).toBe(one);
  for (const account of [other, stripe.platform]) {
    await expect(own.accounts.retrieve(account)).rejects.toMatchObject({
      statusCode: 403,
      code: "account_invalid",
    });
  }
});

test("keys and objects of live mode say so", async () => {
  const stripe = await startStripe({ livemode: true });
  expect(stripe.secretKey).toMatch(/^sk_live_/);
  const client = clientOf(stripe, { account: stripe.addAccount() });
  const session = await client.checkout.sessions.create(priced(500));
  expect(session).toMatchObject({ livemode: true, id: expect.stringMatching(/^cs_live_/) });
});
