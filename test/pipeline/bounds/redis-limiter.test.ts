import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { Redis } from "ioredis";
import { pino } from "pino";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createMemoryLimiter } from "../../../src/pipeline/bounds/rate-limiter.ts";
import { createRedisLimiter } from "../../../src/pipeline/bounds/redis-limiter.ts";
import { eventually } from "../../support/eventually.ts";
import { TEST_MS } from "../../support/limits.ts";
import { hasRedis, startRedis } from "../../support/redis.ts";

/** Refill rate in calls per second. Too low to add a call during a test. */
const SELDOM = 1 / 1024;

const FAILED = "limits are not enforced: Redis does not respond";

test("while Redis is down, calls are allowed and counted, and the log reports it every five seconds", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const messages: string[] = [];
  const log = pino({}, { write: (line) => void messages.push(JSON.parse(line).msg) });
  // Port 1 is closed.
  let fallbacks = 0;
  const limiter = createRedisLimiter("redis://127.0.0.1:1", log, () => void fallbacks++);
  onTestFinished(() => limiter.close());
  const takeSome = async () => {
    for (let i = 0; i < 10; i++) {
      const verdict = await limiter.consume(1, "read", { rate: 2, burst: 3 });
      expect(verdict).toEqual({ allowed: true, remaining: 3, resetSeconds: 2 });
    }
  };
  await takeSome();
  vi.advanceTimersByTime(4_999);
  await takeSome();
  expect(messages).toEqual([FAILED]);
  vi.advanceTimersByTime(1);
  await takeSome();
  expect(messages).toEqual([FAILED, FAILED]);
  expect(fallbacks).toBe(30);
});

test("a refused password is not logged", async () => {
  const refusing = createServer((socket) =>
    socket.on("data", () => socket.write("-WRONGPASS invalid username-password pair\r\n")),
  ).listen(0, "127.0.0.1");
  await once(refusing, "listening");
  onTestFinished(() => void refusing.close());
  const lines: string[] = [];
  const log = pino({}, { write: (line) => void lines.push(line) });
  const { port } = refusing.address() as AddressInfo;
  const limiter = createRedisLimiter(`redis://ada:the-password@127.0.0.1:${port}`, log, () => undefined);
  onTestFinished(() => limiter.close());
  // On a busy machine, a timeout may be logged first.
  await eventually("the refusal", () => lines.some((line) => line.includes("WRONGPASS")));
  expect(lines.join("")).not.toContain("the-password");
});

describe.skipIf(!hasRedis)("with Redis", () => {
  /** Starts a limiter on its own Redis, and a client that reads the stored data. */
  async function startLimiter(timeoutMs = TEST_MS) {
    const { url } = await startRedis();
    const log = pino({ level: "silent" });
    const limiter = createRedisLimiter(url, log, () => undefined, timeoutMs);
    const redis = new Redis(url);
    onTestFinished(async () => {
      redis.disconnect();
      await limiter.close();
    });
    // The limiter allows calls without counting them until it is connected.
    await eventually("the limiter to count", async () => {
      await limiter.consume(0, "read", { rate: 1, burst: 1_000_000 });
      return (await redis.exists(keyOf(0))) === 1;
    });
    return { limiter, redis };
  }

  const keyOf = (workspaceId: number) => `shipments:bucket:${workspaceId}:read`;

  test("the same calls at the same times get the same results as in memory", async () => {
    const { limiter, redis } = await startLimiter();
    let nowMs = 0;
    const memory = createMemoryLimiter(() => nowMs);
    const limits = fc.record({
      rate: fc.oneof(fc.integer({ min: 1, max: 1_000 }), fc.constantFrom(3, 7, 1_000_000)),
      burst: fc.oneof(fc.integer({ min: 1, max: 10 }), fc.constant(1_000_000)),
    });
    // Most calls follow immediately, so that buckets run empty. Some calls follow a pause, in which buckets refill.
    const pausesMs = fc.oneof(
      { weight: 4, arbitrary: fc.constant(0) },
      { weight: 1, arbitrary: fc.integer({ min: 1, max: 20 }) },
    );
    const calls = fc.array(pausesMs, { minLength: 20, maxLength: 30 });
    let workspaceId = 0;
    const compared = { allowed: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(limits, calls, async (limit, pauses) => {
        workspaceId++;
        for (const pauseMs of pauses) {
          if (pauseMs > 0) await sleep(pauseMs);
          const verdict = await limiter.consume(workspaceId, "read", limit);
          // Time at which Redis counted the call. Redis has no entry if the bucket was full and was
          // deleted. In memory, the next call then finds a full bucket too.
          const atUs = await redis.hget(keyOf(workspaceId), "at_us");
          if (atUs === null) continue;
          nowMs = Number(atUs) / 1_000;
          expect(verdict).toEqual(memory.consume(workspaceId, "read", limit));
          compared[verdict.allowed ? "allowed" : "refused"]++;
        }
      }),
      { numRuns: 40 },
    );
    // Both verdicts must have occurred.
    expect(Math.min(compared.allowed, compared.refused)).toBeGreaterThan(0);
  });

  test("classes and workspaces have separate buckets", async () => {
    const { limiter } = await startLimiter();
    const limit = { rate: SELDOM, burst: 1 };
    const first = { allowed: true, remaining: 0, resetSeconds: 1 / SELDOM };
    expect(await limiter.consume(1, "read", limit)).toEqual(first);
    expect(await limiter.consume(1, "write", limit)).toEqual(first);
    expect(await limiter.consume(2, "read", limit)).toEqual(first);
    expect(await limiter.consume(1, "read", limit)).toEqual({ ...first, allowed: false });
  });

  test("deletes a bucket once it is full", async () => {
    const { limiter, redis } = await startLimiter();
    await limiter.consume(1, "read", { rate: 20, burst: 5 });
    await eventually("the bucket to be gone", async () => (await redis.exists(keyOf(1))) === 0);
  });

  test("a changed limit starts with the remaining calls", async () => {
    const { limiter } = await startLimiter();
    const left = async (burst: number) => (await limiter.consume(1, "read", { rate: SELDOM, burst })).remaining;
    expect([await left(3), await left(90), await left(1)]).toEqual([2, 1, 0]);
  });

  test("reloads scripts after Redis has lost them", async () => {
    const { limiter, redis } = await startLimiter();
    await redis.call("SCRIPT", "FLUSH");
    const verdict = await limiter.consume(1, "read", { rate: SELDOM, burst: 2 });
    expect(verdict).toEqual({ allowed: true, remaining: 1, resetSeconds: 1 / SELDOM });
  });

  test("allows calls if Redis responds too slowly", async () => {
    const { limiter, redis } = await startLimiter(250);
    await redis.client("PAUSE", 60_000);
    const verdict = await limiter.consume(1, "read", { rate: 1, burst: 2 });
    expect(verdict).toEqual({ allowed: true, remaining: 2, resetSeconds: 2 });
  });
});
