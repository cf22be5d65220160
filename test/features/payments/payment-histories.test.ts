import { test } from "vitest";
import { startStripeService } from "../../support/stripe-service.ts";
import { assertHistories } from "./payment-histories.ts";

const setup = await startStripeService();

test("whatever happens in whatever order, money at Stripe and here agree at the end", async () => {
  // Limits the time, so that a failure is reported before the test's timeout. A slow machine
  // completes fewer histories.
  await assertHistories(setup, {
    numRuns: 20,
    seed: Date.now(),
    interruptAfterTimeLimit: 40_000,
  });
});
