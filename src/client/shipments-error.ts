import { Code, ConnectError } from "@connectrpc/connect";
import { BadRequestSchema, ErrorInfoSchema, PreconditionFailureSchema } from "../../gen/google/rpc/error_details_pb.js";
import type { FactsOf, Reason } from "./reasons.ts";

/**
 * Error of a call. If the service refused the call, the error has a `reason`:
 *
 *     if (error instanceof ShipmentsError && error.is("PRICE_CHANGED")) offer(error.facts.total);
 *
 * Without a reason, the service did not respond: the connection broke or a proxy responded (`Code.Unavailable`), the
 * call timed out (`Code.DeadlineExceeded`), the caller aborted it (`Code.Canceled`), or its arguments cannot be sent
 * (`Code.InvalidArgument`).
 */
export class ShipmentsError extends Error {
  /** Reason for the refusal. A newer service can return reasons that the type does not contain. */
  readonly reason: Reason | undefined;
  readonly code: Code;
  /** Error messages by path of the field or subject, such as `weight_kg`. */
  readonly fields: Readonly<Record<string, readonly string[]>>;
  /** Machine-readable facts. `is` narrows the type of their names. */
  readonly facts: Readonly<Partial<Record<string, string>>>;
  /** Id of the call in the service's log. */
  readonly requestId: string | undefined;
  /** Minimum delay before a retry, in milliseconds. 0 if the response requires none. */
  readonly retryAfterMs: number;
  readonly headers: Headers;
  /** Idempotency key of a call that writes. If you repeat the call with this key, it takes effect at most once. */
  readonly idempotencyKey: string | undefined;
  /** Number of attempts, not counting attempts refused by a rate limit. */
  readonly attempts: number = 0;

  private constructor(error: ConnectError) {
    super(messageOf(error), { cause: error });
    this.name = "ShipmentsError";
    const [info] = error.findDetails(ErrorInfoSchema);
    this.reason = info?.reason as Reason | undefined;
    this.code = error.code;
    this.fields = fieldsOf(error);
    this.facts = info?.metadata ?? {};
    this.headers = error.metadata;
    this.requestId = error.metadata.get("x-request-id") ?? undefined;
    this.retryAfterMs = retryAfterMs(error.metadata.get("retry-after") ?? "");
  }

  /**
   * Creates the error for a thrown value. The code is `InvalidArgument` if the value was thrown before
   * the call was sent.
   *
   * @param call attempts and idempotency key of the call, if this error ends the call
   */
  static from(thrown: unknown, call?: Pick<ShipmentsError, "attempts" | "idempotencyKey">): ShipmentsError {
    const error =
      thrown instanceof ShipmentsError ? thrown : new ShipmentsError(ConnectError.from(thrown, Code.InvalidArgument));
    if (call === undefined) return error;
    if (call.attempts > 1 && error.reason === undefined) {
      error.message += ` (after ${call.attempts} attempts)`;
    }
    return Object.assign(error, call);
  }

  /** Whether the call was refused for this reason. Narrows the type of the facts. */
  is<R extends Reason>(reason: R): this is RefusedFor<R> {
    return this.reason === reason;
  }
}

type RefusedFor<R extends Reason> = Omit<ShipmentsError, "reason" | "facts"> & {
  readonly reason: R;
  readonly facts: FactsOf<R>;
};

/**
 * Returns the message of an error. `fetch` throws the same message for every broken connection, so the
 * message of its cause is used.
 */
function messageOf({ rawMessage, cause }: ConnectError): string {
  const { message, code } = ((cause as Error | undefined)?.cause ?? {}) as Partial<Error & { code: string }>;
  const why = message || code;
  return why ? `${rawMessage}: ${why}` : rawMessage;
}

/** Parses a `Retry-After` header, in seconds or as a date, into milliseconds. */
function retryAfterMs(header: string): number {
  const ms = /^\d+$/.test(header) ? 1_000 * Number(header) : Date.parse(header) - Date.now();
  return Math.max(0, ms || 0);
}

function fieldsOf(error: ConnectError): Record<string, string[]> {
  const fields: Record<string, string[]> = {};
  const bad = error.findDetails(BadRequestSchema).flatMap((each) => each.fieldViolations);
  const unmet = error.findDetails(PreconditionFailureSchema).flatMap((each) => each.violations);
  for (const { field, description } of bad) (fields[field] ??= []).push(description);
  for (const { subject, description } of unmet) (fields[subject] ??= []).push(description);
  return fields;
}
