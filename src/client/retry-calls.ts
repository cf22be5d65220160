import { create, fromBinary, toBinary, type DescMethod } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import { createRateLimits } from "./rate-limits.ts";
import { ShipmentsError } from "./shipments-error.ts";
import { wait, type Wait } from "./wait.ts";

/** How calls are retried after a transient error. */
export interface RetryOptions {
  /** How often a call is made at most, the first time included; 6 unless given, 1 for no retries. */
  readonly attempts?: number;
  /**
   * The longest wait before the second attempt, in milliseconds, doubled before each one after; 200
   * unless given. A random part of it is waited, so that callers who failed together do not come back
   * together. What the service asks for by `Retry-After` comes on top.
   */
  readonly baseMs?: number;
  /** Where doubling ends, in milliseconds; 5000 unless given. */
  readonly maxMs?: number;
}

/** The header by which the service recognizes a retry. */
export const IDEMPOTENCY_KEY = "idempotency-key";

/** How long a call may take with its retries unless the caller says, in milliseconds. */
const TIMEOUT_MS = 30_000;

const now = () => performance.now();

/**
 * Makes the calls of a transport safe to retry, and retries them. A call that writes keeps one
 * idempotency key, so that its work is done once however often it is sent.
 *
 * `timeoutMs` bounds a call with its retries; 0 is no bound. A stream is not retried.
 *
 * @throws ShipmentsError the error of the last attempt
 * @throws ConnectError `DeadlineExceeded`, where the time does not last until the service takes calls again
 */
export function retryCalls(
  transport: Transport,
  { attempts = 6, baseMs = 200, maxMs = 5_000 }: RetryOptions = {},
  pause: Wait = wait,
): Transport {
  const limits = createRateLimits();
  return {
    stream: transport.stream,
    async unary(method, signal, timeoutMs = TIMEOUT_MS, given, request) {
      const headers = new Headers(given);
      if (writes(method) && !headers.has(IDEMPOTENCY_KEY)) {
        // 128 random bits; `randomUUID` is missing in pages that came without TLS.
        headers.set(IDEMPOTENCY_KEY, crypto.getRandomValues(new Uint32Array(4)).join("-"));
      }
      // Encoded once: what is malformed is not sent, and what the caller changes later is not sent either.
      const { input } = method;
      const message = fromBinary(input, toBinary(input, create(input, request)));
      const deadlineMs = timeoutMs === 0 ? Infinity : now() + timeoutMs;
      for (let attempt = 1; ; attempt++) {
        const heldMs = limits.waitMs(method, now());
        assertBefore(deadlineMs - heldMs);
        if (heldMs > 0) await pause(heldMs, signal);
        assertBefore(deadlineMs);
        const leftMs = timeoutMs === 0 ? 0 : Math.ceil(deadlineMs - now());
        try {
          const response = await transport.unary(method, signal, leftMs, headers, message);
          limits.note(method, response.header, false, now());
          return response;
        } catch (thrown) {
          const error = ShipmentsError.from(thrown);
          limits.note(method, error.headers, error.is("RATE_LIMITED"), now());
          const backoffMs = Math.min(maxMs, baseMs * 2 ** (attempt - 1));
          const waitMs = error.retryAfterMs + Math.random() * backoffMs;
          const isLast = attempt >= attempts || now() + waitMs >= deadlineMs;
          if (isLast || signal?.aborted || !isRetryable(error)) throw error;
          await pause(waitMs, signal);
        }
      }
    },
  };
}

/** @throws ConnectError `DeadlineExceeded`, from that moment on: what is not sent has no effect */
function assertBefore(deadlineMs: number): void {
  if (now() >= deadlineMs) throw new ConnectError("the time is up", Code.DeadlineExceeded);
}

/** Whether a method changes something, as its descriptor declares. */
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
      // No answer of the service: a broken connection, a proxy's 429, 502, 503 or 504, or no answer in time.
      return code === Code.Unavailable || code === Code.DeadlineExceeded;
    default:
      return false;
  }
}
