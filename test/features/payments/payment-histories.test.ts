import { test } from "vitest";
import { startStripeService } from "../../support/stripe-service.ts";
import { assertHistories } from "./payment-histories.ts";

const setup = await startStripeService();

test("Stripe and the service agree on all amounts at the end of random histories", async () => {
  // Limits the time, so that a failure is reported before the test's timeout. A slow machine
  // completes fewer histories.
  await assertHistories(setup, {
    numRuns: 20,
    seed: Date.now(),
    interruptAfterTimeLimit: 40_000,
  });
});
