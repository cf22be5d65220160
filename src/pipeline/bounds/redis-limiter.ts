import type { ClientContext, Redis, Result } from "ioredis";
import type { Logger } from "pino";
import { verdictOf, refillSeconds } from "../../domain/rate-limit.ts";
import type { Limiter } from "./rate-limiter.ts";

/** Redis timeout in milliseconds. After the timeout, the call is allowed without being counted. */
const COMMAND_TIMEOUT_MS = 250;
const CONNECT_TIMEOUT_MS = 2_000;
/** Minimum interval between logged failures, in milliseconds. */
const LOG_INTERVAL_MS = 5_000;

/**
 * Redis script equivalent to `consumeCall` in domain/rate-limit.ts. Its numbers are integers that doubles represent
 * exactly. Takes the key of a bucket, the rate and the burst. Returns whether the call is allowed (1 or 0) and the
 * remaining millionths of a call. The time comes from Redis, because replicas' clocks differ. A bucket expires when it
 * is full. Deleting a full bucket changes nothing, because a missing bucket counts as full.
 */
const CONSUME_CALL = `
local CALL = 1000000
local rate, capacity = tonumber(ARGV[1]), tonumber(ARGV[2]) * CALL
local time = redis.call("TIME")
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])

local bucket = redis.call("HMGET", KEYS[1], "micro_calls", "at_us")
local calls = tonumber(bucket[1] or capacity)
local at = tonumber(bucket[2] or now)

calls = math.min(capacity, calls + math.max(0, now - at) * rate)
local allowed = calls >= CALL
if allowed then calls = calls - CALL end

redis.call("HSET", KEYS[1], "micro_calls", calls, "at_us", now)
redis.call("PEXPIREAT", KEYS[1], math.ceil((now + (capacity - calls) / rate) / 1000))
return { allowed and 1 or 0, calls }
`;

declare module "ioredis" {
  interface RedisCommander<Context extends ClientContext> {
    consumeCall(key: string, rate: number, burst: number): Result<[allowed: 0 | 1, microCalls: number], Context>;
  }
}

/**
 * Creates a limiter in Valkey or Redis that all replicas share. If Redis fails, calls are allowed and
 * the failure is logged.
 */
export function createRedisLimiter(
  redisUrl: string,
  log: Logger,
  onFallback: () => void,
  timeoutMs: number = COMMAND_TIMEOUT_MS,
): Limiter {
  let loggedAtMs = -Infinity;
  function logFailure(error: unknown): void {
    if (performance.now() - loggedAtMs < LOG_INTERVAL_MS) return;
    loggedAtMs = performance.now();
    // ioredis adds the command, which contains the password if the server refuses it.
    if (error instanceof Error) Reflect.deleteProperty(error, "command");
    log.error({ err: error }, "limits are not enforced: Redis does not respond");
  }

  const client = connect(redisUrl, timeoutMs, logFailure);
  client.catch(logFailure);

  return {
    async consume(account, limitClass, limit) {
      const { rate, burst } = limit;
      try {
        const redis = await client;
        const key = `shipments:bucket:${account}:${limitClass}`;
        const [allowed, microCalls] = await redis.consumeCall(key, rate, burst);
        return verdictOf(allowed === 1, microCalls, limit);
      } catch (error) {
        logFailure(error);
        onFallback();
        return { allowed: true, remaining: burst, resetSeconds: refillSeconds(limit) };
      }
    },
    close: () =>
      client.then(
        (redis) => redis.disconnect(),
        () => undefined,
      ),
  };
}

async function connect(redisUrl: string, timeoutMs: number, onError: (error: unknown) => void): Promise<Redis> {
  // Loaded lazily, because most deployments have one replica and start faster without ioredis.
  const ioredis = await import("ioredis");
  const redis = new ioredis.Redis(redisUrl, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: timeoutMs,
    connectTimeout: CONNECT_TIMEOUT_MS,
  });
  redis.on("error", onError);
  redis.defineCommand("consumeCall", { numberOfKeys: 1, lua: CONSUME_CALL });
  return redis;
}
