import { test } from "vitest";
import { startStripeService } from "../../support/stripe-service.ts";
import { assertHistories } from "./payment-histories.ts";

const setup = await startStripeService();

test("whatever happens in whatever order, money at Stripe and here agree at the end", async () => {
  // A slow machine completes fewer histories. A failure is reported before the test's timeout.
  await assertHistories(setup, {
    numRuns: 20,
    seed: Date.now(),
    interruptAfterTimeLimit: 40_000,
  });
});
