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
  /** By which the service's log knows the call. */
  readonly requestId: string | undefined;
  /** The least wait before a retry, in milliseconds; 0 where the service does not say. */
  readonly retryAfterMs: number;
  /** The headers of the answer. */
  readonly headers: Headers;

  private constructor(error: ConnectError) {
    super(error.rawMessage, { cause: error });
    this.name = "ShipmentsError";
    const [info] = error.findDetails(ErrorInfoSchema);
    this.reason = info?.reason as Reason | undefined;
    this.code = error.code;
    this.fields = fieldsOf(error);
    this.facts = info?.metadata ?? {};
    this.headers = error.metadata;
    this.requestId = error.metadata.get("x-request-id") ?? undefined;
    // The other form of the header, a date, is none that the service sends.
    this.retryAfterMs = 1_000 * (Number(error.metadata.get("retry-after")) || 0);
  }

  /** The error of whatever a call has thrown; before it is sent, that is by what the caller gave. */
  static from(thrown: unknown): ShipmentsError {
    return thrown instanceof ShipmentsError
      ? thrown
      : new ShipmentsError(ConnectError.from(thrown, Code.InvalidArgument));
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

function fieldsOf(error: ConnectError): Record<string, string[]> {
  const fields: Record<string, string[]> = {};
  const bad = error.findDetails(BadRequestSchema).flatMap((each) => each.fieldViolations);
  const unmet = error.findDetails(PreconditionFailureSchema).flatMap((each) => each.violations);
  for (const { field, description } of bad) (fields[field] ??= []).push(description);
  for (const { subject, description } of unmet) (fields[subject] ??= []).push(description);
  return fields;
}
