import { create, fromBinary, toBinary, type DescMethod } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import { createRateLimits } from "./rate-limits.ts";
import { ShipmentsError } from "./shipments-error.ts";
import { wait, type Wait } from "./wait.ts";

/** Retries of calls after transient errors. */
export interface RetryOptions {
  /**
   * Maximum number of attempts, including the first. 1 disables retries. Default: 12. Attempts refused by the rate limit
   * of quotes, reads or writes do not count. The timeout of the call can end the retries earlier.
   */
  readonly attempts?: number;
  /**
   * Maximum delay before the second attempt, in milliseconds. The maximum doubles before each further
   * attempt. Default: 200. The delay is a random fraction of the maximum, so that calls that failed
   * together are not retried together. `Retry-After` is added.
   */
  readonly baseMs?: number;
  /** Upper limit of the maximum delay, in milliseconds. Default: 5,000. */
  readonly maxMs?: number;
}

/** Request header that lets the service recognize a retry. */
export const IDEMPOTENCY_KEY = "idempotency-key";

/** Default timeout of a call including retries, in milliseconds. */
const TIMEOUT_MS = 30_000;
/** Minimum timeout of one attempt, in milliseconds, unless the call has less time left. */
const ATTEMPT_MS = 10_000;

const now = () => performance.now();

/**
 * Adds retries to a transport. All attempts of a call that writes have the same idempotency key, so the call takes
 * effect only once.
 *
 * `timeoutMs` limits a call including retries. 0 means no limit. One attempt takes at most a third of the timeout, but
 * at least 10 seconds if that much time is left, so that a lost response leaves time for retries. Streams are not
 * retried.
 *
 * @throws ShipmentsError the error of the last attempt, or `DeadlineExceeded`
 */
export function retryCalls(
  transport: Transport,
  { attempts = 12, baseMs = 200, maxMs = 5_000 }: RetryOptions = {},
  pause: Wait = wait,
): Transport {
  const limits = createRateLimits();

  /**
   * Waits until the rate limit of the method admits a call.
   *
   * @returns false if the limit does not admit the call before the deadline
   */
  async function waitForRate(method: DescMethod, deadlineMs: number, signal?: AbortSignal) {
    do {
      const waitMs = limits.reserve(method, now(), deadlineMs);
      if (waitMs === undefined) return false;
      if (waitMs > 0) await pause(waitMs, signal);
    } while (limits.isHeld(method, now()));
    return now() < deadlineMs;
  }

  return {
    stream: transport.stream,
    async unary(method, signal, timeoutMs = TIMEOUT_MS, requestHeaders, request) {
      const headers = new Headers(requestHeaders);
      if (writes(method) && !headers.has(IDEMPOTENCY_KEY)) {
        // The key has 128 random bits. `randomUUID` is unavailable on pages without TLS.
        headers.set(IDEMPOTENCY_KEY, crypto.getRandomValues(new Uint32Array(4)).join("-"));
      }
      const idempotencyKey = headers.get(IDEMPOTENCY_KEY) ?? undefined;
      // The request is copied, so that later changes by the caller have no effect.
      const { input } = method;
      const message = fromBinary(input, toBinary(input, create(input, request)));
      const deadlineMs = timeoutMs === 0 ? Infinity : now() + timeoutMs;
      let attempt = 0;
      let last: unknown = new ConnectError("the time is up", Code.DeadlineExceeded);
      try {
        while (await waitForRate(method, deadlineMs, signal)) {
          attempt++;
          const attemptMs = Math.min(deadlineMs - now(), Math.max(timeoutMs / 3, ATTEMPT_MS));
          try {
            const limitMs = timeoutMs === 0 ? 0 : Math.ceil(attemptMs);
            const response = await transport.unary(method, signal, limitMs, headers, message);
            limits.note(method, response.header, false, now());
            return response;
          } catch (thrown) {
            const error = ShipmentsError.from(thrown);
            last = error;
            limits.note(method, error.headers, error.is("RATE_LIMITED"), now());
            if (attempts <= 1 || signal?.aborted || !isRetryable(error)) break;
            if (error.is("RATE_LIMITED") && limits.isHeld(method, now())) {
              attempt--;
              continue;
            }
            const backoffMs = Math.min(maxMs, baseMs * 2 ** (attempt - 1));
            const waitMs = error.retryAfterMs + Math.random() * backoffMs;
            if (attempt >= attempts || now() + waitMs >= deadlineMs) break;
            await pause(waitMs, signal);
          }
        }
      } catch (thrown) {
        last = thrown;
      }
      throw ShipmentsError.from(last, { idempotencyKey, attempts: attempt });
    },
  };
}

/** Whether a method writes, as declared in its descriptor. */
function writes({ idempotency }: DescMethod): boolean {
  return idempotency !== MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;
}

/** Whether the same call may succeed later. */
export function isRetryable({ reason, code }: ShipmentsError): boolean {
  switch (reason) {
    case "RATE_LIMITED":
    case "UNAVAILABLE":
    case "DEADLINE_EXCEEDED":
    case "IDEMPOTENCY_KEY_IN_USE":
      return true;
    case undefined:
      // The service did not respond: a broken connection, a proxy's 429, 502, 503 or 504, or a timeout.
      return code === Code.Unavailable || code === Code.DeadlineExceeded;
    default:
      return false;
  }
}
