import type { Refusal } from "../../domain/refusal.ts";

/** Returns the JSON body of a refusal: message, violations by field or subject, reason, request id and metadata. */
export function refusalBody({ message, violations, reason, facts }: Refusal, requestId: string) {
  const named = Map.groupBy(violations, ({ subject }) => subject);
  named.delete(undefined);
  const errors: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
    [...named].map(([subject, own]) => [subject, own.map(({ text }) => text)]),
  );
  const body = { message, errors, code: reason, request_id: requestId };
  return Object.keys(facts).length === 0 ? body : { ...body, metadata: facts };
}

/** Returns the headers of a refusal. In gRPC they are trailers. */
export function refusalHeaders({ reason, retryAfterSeconds }: Refusal): Record<string, string> {
  return {
    ...(reason === "CREDENTIAL_REFUSED" ? { "www-authenticate": "Bearer" } : {}),
    ...(retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) }),
  };
}
