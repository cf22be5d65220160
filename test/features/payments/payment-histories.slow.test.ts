import { test } from "vitest";
import { startStripeService } from "../../support/stripe-service.ts";
import { assertHistories } from "./payment-histories.ts";

/**
 * Number of histories. After changes to payments, run half an hour: `HISTORIES=10000 npm run
 * test:all -- payment-histories`.
 */
const HISTORIES = Number(process.env.HISTORIES ?? 80);
/** Seed of the first 500 histories. Later batches use the next seeds. */
const SEED = Number(process.env.HISTORIES_SEED ?? Date.now());
/** Number of histories per batch. Limited, because the stand-in scans all objects of an account. */
const PER_BATCH = 500;
const TIMEOUT_MS = 2 * 60 * 60_000;

const setup = await startStripeService();

test(
  "Stripe and the service agree on all amounts at the end of many histories",
  async () => {
    for (let done = 0; done < HISTORIES; done += PER_BATCH) {
      const numRuns = Math.min(HISTORIES - done, PER_BATCH);
      await assertHistories(setup, { numRuns, seed: SEED + done / PER_BATCH });
    }
  },
  TIMEOUT_MS,
);
