import { Code, ConnectError } from "@connectrpc/connect";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  PreconditionFailureSchema,
} from "../../gen/google/rpc/error_details_pb.js";
import type { FactsOf, Reason } from "./reasons.ts";

/**
 * Why a call has failed. Where the service refused it there is a `reason`:
 *
 *     if (error instanceof ShipmentsError && error.is("PRICE_CHANGED")) offer(error.facts.total);
 *
 * Without one there was no answer of the service: the connection broke (`code` is `Code.Unavailable`), the
 * time was up (`Code.DeadlineExceeded`), the caller aborted it (`Code.Canceled`), what it gave could not be
 * sent (`Code.InvalidArgument`), or a proxy answered.
 */
export class ShipmentsError extends Error {
  /** Why it was refused. A newer service may have reasons that are not in the type. */
  readonly reason: Reason | undefined;
  readonly code: Code;
  /** What is wrong with each field or subject, by its path, such as `weight_kg`. */
  readonly fields: Readonly<Record<string, readonly string[]>>;
  /** What programs may go by; `is` tells their names. */
  readonly facts: Readonly<Partial<Record<string, string>>>;
  /** Identifies the call in the service's log. */
  readonly requestId: string | undefined;
  /** Shortest wait before a retry, in milliseconds; 0 if the response does not name one. */
  readonly retryAfterMs: number;
  /** The headers of the response. */
  readonly headers: Headers;
  /** The key of a call that writes. Repeat the call with it: if an attempt took effect, it is not done again. */
  readonly idempotencyKey: string | undefined;
  /** Number of attempts that were sent, without those that exceeded a rate limit. */
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
   * Returns the error for a value that a call threw; `InvalidArgument` if it was thrown before the call was sent.
   *
   * @param call the attempts and the idempotency key of the call, if it ends with this error
   */
  static from(
    thrown: unknown,
    call?: Pick<ShipmentsError, "attempts" | "idempotencyKey">,
  ): ShipmentsError {
    const error =
      thrown instanceof ShipmentsError
        ? thrown
        : new ShipmentsError(ConnectError.from(thrown, Code.InvalidArgument));
    if (call === undefined) return error;
    if (call.attempts > 1 && error.reason === undefined) {
      error.message += ` (after ${call.attempts} attempts)`;
    }
    return Object.assign(error, call);
  }

  /** Whether it was refused for this reason, which tells the names of its facts. */
  is<R extends Reason>(reason: R): this is RefusedFor<R> {
    return this.reason === reason;
  }
}

/** An error of which the reason is known. */
type RefusedFor<R extends Reason> = Omit<ShipmentsError, "reason" | "facts"> & {
  readonly reason: R;
  readonly facts: FactsOf<R>;
};

/** Returns the message of an error. That of `fetch` is the same for every broken connection: its cause says why. */
function messageOf({ rawMessage, cause }: ConnectError): string {
  const { message, code } = ((cause as Error | undefined)?.cause ?? {}) as Partial<
    Error & { code: string }
  >;
  const why = message || code;
  return why ? `${rawMessage}: ${why}` : rawMessage;
}

/** Returns the wait that a `Retry-After` header asks for, in seconds or by a date, in milliseconds. */
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
