import { randomUUID } from "node:crypto";

/** The headers (or gRPC metadata) that steer a call, picked from a request in one pass. */
export interface CallHeaders {
  /** The caller's `X-Request-Id` if it is 1 to 128 visible characters, else one made here. */
  readonly requestId: string;
  /** Every `Authorization` value, as received. */
  readonly authorization: readonly string[];
  /** Every `X-Api-Key` value, as received. */
  readonly apiKeys: readonly string[];
  readonly contentType: string | undefined;
  readonly contentEncoding: string | undefined;
  readonly contentLength: string | undefined;
  readonly transferEncoding: string | undefined;
  /** Every `Idempotency-Key` value, as received. */
  readonly idempotencyKeys: readonly string[];
  /** `Connect-Timeout-Ms`: how long the caller will wait, in milliseconds. */
  readonly timeoutMs: number | undefined;
}

const VISIBLE = /^[\x21-\x7e]{1,128}$/;
const MILLISECONDS = /^[0-9]{1,10}$/;

/**
 * Picks the steering headers out of Node's raw header list, which alternates names and values and
 * keeps duplicates that Node's own `headers` object would drop (two different `Authorization`
 * headers must not pass for one).
 */
export function readCallHeaders(rawHeaders: readonly string[]): CallHeaders {
  const authorization: string[] = [];
  const apiKeys: string[] = [];
  const idempotencyKeys: string[] = [];
  let requestId: string | undefined;
  let contentType: string | undefined;
  let contentEncoding: string | undefined;
  let contentLength: string | undefined;
  let transferEncoding: string | undefined;
  let timeoutMs: number | undefined;
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const value = rawHeaders[i + 1] as string;
    switch ((rawHeaders[i] as string).toLowerCase()) {
      case "authorization":
        authorization.push(value);
        break;
      case "x-api-key":
        apiKeys.push(value);
        break;
      case "idempotency-key":
        idempotencyKeys.push(value);
        break;
      case "x-request-id":
        if (VISIBLE.test(value)) requestId ??= value;
        break;
      case "content-type":
        contentType ??= value;
        break;
      case "content-encoding":
        contentEncoding ??= value;
        break;
      case "content-length":
        contentLength ??= value;
        break;
      case "transfer-encoding":
        transferEncoding ??= value;
        break;
      case "connect-timeout-ms":
        if (MILLISECONDS.test(value)) timeoutMs ??= Number(value);
        break;
    }
  }
  return {
    requestId: requestId ?? randomUUID(),
    authorization,
    apiKeys,
    idempotencyKeys,
    contentType,
    contentEncoding,
    contentLength,
    transferEncoding,
    timeoutMs,
  };
}
