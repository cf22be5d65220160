import { expect, test } from "vitest";
import { PROVIDER_LIMITS } from "../../../src/domain/rate-limit.ts";
import { book } from "../../support/bookings.ts";
import { requestCheckout, startStripeService } from "../../support/stripe-service.ts";

// The limiter's clock is frozen, so no bucket refills.
const setup = await startStripeService({ outside: { monotonicMs: () => 0 } });
const { service, stripe } = setup;

const refusal = (what: string) => ({
  status: 429,
  body: {
    message: `Too many checks of the workspace's ${what}. Try again in a moment.`,
    errors: {},
  },
});

test("limits the calls to Stripe about each workspace's account", async () => {
  const [{ apiKey }, other] = [await setup.connect(), await setup.connect()];
  const check = (key: string) => service.request("/v1/payment_connection/check", { apiKey: key, body: {} });
  const { length } = stripe.processed;
  const answers = await Promise.all(Array.from({ length: 60 }, () => check(apiKey)));
  const refused = answers.filter(({ status }) => status !== 200);
  // Connecting took two calls: one to begin and one to check.
  const left = PROVIDER_LIMITS.account.burst - 2;
  expect(refused.map(({ status, body }) => ({ status, body }))).toEqual(
    Array.from({ length: 60 - left }, () => refusal("payment account")),
  );
  const reads = stripe.processed.slice(length).filter(({ line }) => line.startsWith("GET /v1/acc"));
  expect(reads).toHaveLength(left);
  expect((await check(other.apiKey)).status).toBe(200);
});

test("limits the calls to Stripe about each workspace's payments", async () => {
  const { apiKey } = await setup.connect();
  const { burst } = PROVIDER_LIMITS.payments;
  await stripe.goAway();
  const askForOne = async () => {
    const { reference } = await book(service, apiKey);
    for (let i = 0; i < burst / 20; i++) {
      expect((await requestCheckout(service, apiKey, reference)).status).toBe(503);
    }
    return reference;
  };
  const references = await Promise.all(Array.from({ length: 20 }, askForOne));
  await stripe.comeBack();
  const { status, body } = await requestCheckout(service, apiKey, references[0]!);
  expect({ status, body }).toEqual(refusal("payments"));
  const paid = await service.request(`/v1/shipments/${references[0]}/payments`, {
    apiKey,
    body: { amount: 12.69, currency: "USD" },
  });
  expect({ status: paid.status, body: paid.body }).toEqual(refusal("payments"));
});
