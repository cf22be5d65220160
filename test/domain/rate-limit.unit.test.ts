import fc from "fast-check";
import { expect, test } from "vitest";
import { fullBucket, isFull, consumeCall, refillSeconds } from "../../src/domain/rate-limit.ts";

const LIMIT = { rate: 2, burst: 4 };

test("a full token bucket allows its burst immediately, then one call every half second", () => {
  const bucket = fullBucket(LIMIT, 0);
  const at = (ms: number) => consumeCall(bucket, LIMIT, ms);
  expect([at(0), at(0), at(0), at(0), at(0)]).toEqual([
    { allowed: true, remaining: 3, resetSeconds: 1 },
    { allowed: true, remaining: 2, resetSeconds: 1 },
    { allowed: true, remaining: 1, resetSeconds: 2 },
    { allowed: true, remaining: 0, resetSeconds: 2 },
    { allowed: false, remaining: 0, resetSeconds: 1 },
  ]);
  expect(at(499).allowed).toBe(false);
  expect(at(500)).toEqual({ allowed: true, remaining: 0, resetSeconds: 2 });
  expect(at(501).allowed).toBe(false);
});

test("an empty token bucket is full after the window and does not exceed its burst", () => {
  const bucket = fullBucket(LIMIT, 0);
  for (let i = 0; i < 4; i++) consumeCall(bucket, LIMIT, 0);
  expect(refillSeconds(LIMIT)).toBe(2);
  expect(isFull(bucket, LIMIT, 1_999)).toBe(false);
  expect(isFull(bucket, LIMIT, 2_000)).toBe(true);
  expect(consumeCall(bucket, LIMIT, 60_000)).toEqual({
    allowed: true,
    remaining: 3,
    resetSeconds: 1,
  });
});

test("for any sequence of calls, a token bucket allows no more than its burst and refill", () => {
  const calls = fc.array(fc.integer({ min: 0, max: 300 }), { maxLength: 200 });
  const limit = fc.record({
    rate: fc.integer({ min: 1, max: 50 }),
    burst: fc.integer({ min: 1, max: 50 }),
  });
  fc.assert(
    fc.property(limit, calls, (limit, pausesMs) => {
      const bucket = fullBucket(limit, 0);
      let nowMs = 0;
      let allowed = 0;
      for (const pauseMs of pausesMs) {
        nowMs += pauseMs;
        if (consumeCall(bucket, limit, nowMs).allowed) allowed++;
        expect(allowed).toBeLessThanOrEqual(limit.burst + (limit.rate * nowMs) / 1_000 + 1e-6);
      }
    }),
  );
});
