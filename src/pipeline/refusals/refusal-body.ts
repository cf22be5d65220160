import type { Refusal, RefusalReason } from "../../domain/refusal.ts";

export interface ErrorBody {
  readonly message: string;
  readonly errors: Readonly<Record<string, readonly string[]>>;
  readonly code: RefusalReason;
  readonly request_id: string;
  /** Facts for programs, the same as in `ErrorInfo`; absent where there are none. */
  readonly metadata?: Readonly<Record<string, string>>;
}

/**
 * Says what was refused: the message, each violation's text under the field or subject it is about, the
 * reason, by which id the log knows the request, and the facts that go with the reason.
 */
export function errorBody(
  { message, violations, reason, facts }: Refusal,
  requestId: string,
): ErrorBody {
  const errors = new Map<string, string[]>();
  for (const { subject, text } of violations) {
    if (subject === undefined) continue;
    const texts = errors.get(subject);
    if (texts === undefined) errors.set(subject, [text]);
    else texts.push(text);
  }
  const body = {
    message,
    errors: Object.fromEntries(errors),
    code: reason,
    request_id: requestId,
  };
  return Object.keys(facts).length === 0 ? body : { ...body, metadata: facts };
}

/** The headers that go with a refusal; in gRPC they are trailers. */
export function refusalHeaders({ reason, retryAfterSeconds }: Refusal): Record<string, string> {
  return {
    ...(reason === "CREDENTIAL_REFUSED" ? { "www-authenticate": "Bearer" } : {}),
    ...(retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) }),
  };
}
