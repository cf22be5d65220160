import { expect, test } from "vitest";
import {
  createInFlightLimit,
  MAX_CONCURRENCY,
  nextConcurrency,
  USUAL_CONCURRENCY,
  type AcquireAttempt,
} from "../../../src/features/webhooks/webhook-queue.ts";

test("the concurrency of a webhook grows by one with each success, up to its limit", () => {
  expect(nextConcurrency(4, true)).toBe(5);
  expect(nextConcurrency(MAX_CONCURRENCY, true)).toBe(MAX_CONCURRENCY);
});

test("each failure halves the concurrency of a webhook, down to one attempt at a time", () => {
  const steps = [64];
  while (steps.at(-1)! > 1) steps.push(nextConcurrency(steps.at(-1)!, false));
  expect(steps).toEqual([64, 32, 16, 8, 4, 2, 1]);
  expect(nextConcurrency(1, false)).toBe(1);
});

/** Acquires further attempts until the limit is reached. */
function acquireExtra(acquire: AcquireAttempt, workspace: number): (() => void)[] {
  const releases: (() => void)[] = [];
  for (let release; (release = acquire(workspace, USUAL_CONCURRENCY)) !== undefined;) {
    releases.push(release);
  }
  return releases;
}

test("beyond the usual concurrency, a workspace gets half of the free capacity", () => {
  const acquire = createInFlightLimit();
  expect(acquireExtra(acquire, 1)).toHaveLength(256);
  expect(acquireExtra(acquire, 2)).toHaveLength(128);
  expect(acquireExtra(acquire, 3)).toHaveLength(64);
});

test("a webhook gets its usual concurrency regardless of other attempts in flight", () => {
  const acquire = createInFlightLimit();
  for (let workspace = 1; workspace <= 100; workspace++) acquireExtra(acquire, workspace);
  expect(acquire(101, USUAL_CONCURRENCY)).toBeUndefined();
  expect(acquire(101, USUAL_CONCURRENCY - 1)).toBeDefined();
});

test("a completed attempt frees capacity for another", () => {
  const acquire = createInFlightLimit();
  for (const release of acquireExtra(acquire, 1)) release();
  expect(acquireExtra(acquire, 2)).toHaveLength(256);
});
