import type { Refusal, RefusalReason } from "../../domain/refusal.ts";

export interface RefusalBody {
  readonly message: string;
  readonly errors: Readonly<Record<string, readonly string[]>>;
  readonly code: RefusalReason;
  readonly request_id: string;
  /** Machine-readable details, as in `ErrorInfo`. Absent if empty. */
  readonly metadata?: Readonly<Record<string, string>>;
}

/** Returns the JSON body of a refusal: message, violations by field or subject, reason, request id and metadata. */
export function refusalBody({ message, violations, reason, facts }: Refusal, requestId: string): RefusalBody {
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

/** Returns the headers of a refusal. In gRPC they are trailers. */
export function refusalHeaders({ reason, retryAfterSeconds }: Refusal): Record<string, string> {
  return {
    ...(reason === "CREDENTIAL_REFUSED" ? { "www-authenticate": "Bearer" } : {}),
    ...(retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) }),
  };
}
