import { Redis } from "ioredis";
import type { Logger } from "pino";
import { RateLimiterRedis, RateLimiterRes } from "rate-limiter-flexible";
import { windowSeconds, type RateLimit, type Verdict } from "../domain/rate-limit.ts";
import type { Limiter } from "./limiter.ts";

/** How long Redis may take to answer, in milliseconds, before calls go on without it. */
const PATIENCE_MS = 250;
/** How often its absence is logged, in milliseconds. */
const COMPLAIN_MS = 5_000;

/**
 * Counts the calls of all replicas together, in Valkey or Redis: as many calls as a bucket holds in
 * the time it takes to fill. When Redis fails, calls are let through, and the log says so.
 */
export function createRedisLimiter(redisUrl: string, log: Logger): Limiter {
  const redis = new Redis(redisUrl, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: PATIENCE_MS,
    connectTimeout: 2_000,
  });
  redis.on("error", complain);
  const limiters = new Map<string, RateLimiterRedis>();
  let complainedAt = -Infinity;

  function complain(error: unknown): void {
    if (performance.now() - complainedAt < COMPLAIN_MS) return;
    complainedAt = performance.now();
    log.error({ err: error }, "limits are not enforced: Redis does not answer");
  }

  /** One limiter for each limit there is: they differ by workspace only where operators say so. */
  function limiterFor(limit: RateLimit): RateLimiterRedis {
    const keyPrefix = `shipments:${limit.burst}/${limit.rate}`;
    let limiter = limiters.get(keyPrefix);
    if (limiter === undefined) {
      limiter = new RateLimiterRedis({
        storeClient: redis,
        keyPrefix,
        points: limit.burst,
        duration: windowSeconds(limit),
      });
      limiters.set(keyPrefix, limiter);
    }
    return limiter;
  }

  return {
    async take(workspaceId, limitClass, limit) {
      try {
        const taken = await limiterFor(limit).consume(`${workspaceId}:${limitClass}`);
        return verdictOf(true, taken);
      } catch (error) {
        if (error instanceof RateLimiterRes) return verdictOf(false, error);
        complain(error);
        return { allowed: true, remaining: limit.burst, resetSeconds: windowSeconds(limit) };
      }
    },
    close: async () => redis.disconnect(),
  };
}

function verdictOf(allowed: boolean, { remainingPoints, msBeforeNext }: RateLimiterRes): Verdict {
  const resetSeconds = Math.max(1, Math.ceil(msBeforeNext / 1_000));
  return { allowed, remaining: Math.max(0, remainingPoints), resetSeconds };
}
