import { expect, test } from "vitest";
import { createMemoryLimiter } from "../../../src/pipeline/bounds/rate-limiter.ts";

test("a changed limit starts with the remaining calls, or full if none were used", async () => {
  let nowMs = 0;
  const limiter = createMemoryLimiter(() => nowMs);
  const take = (limit: { rate: number; burst: number }) => limiter.consume(1, "read", limit);
  expect(take({ rate: 1, burst: 3 })).toEqual({ allowed: true, remaining: 2, resetSeconds: 1 });
  expect(take({ rate: 2, burst: 9 })).toEqual({ allowed: true, remaining: 1, resetSeconds: 4 });
  nowMs = 4_000;
  expect(take({ rate: 1, burst: 20 })).toEqual({ allowed: true, remaining: 19, resetSeconds: 1 });
  expect(take({ rate: 1, burst: 5 })).toEqual({ allowed: true, remaining: 4, resetSeconds: 1 });
});
