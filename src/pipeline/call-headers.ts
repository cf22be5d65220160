import { randomUUID } from "node:crypto";
import { refuse } from "../domain/refusal.ts";

/** Headers or gRPC metadata that control a call. */
export interface CallHeaders {
  /**
   * The caller's `X-Request-Id` if it consists of 1 to 128 visible characters and does not look like a
   * secret. Otherwise a generated id.
   */
  readonly requestId: string;
  readonly authorization: readonly string[];
  readonly apiKeys: readonly string[];
  readonly contentType: string | undefined;
  readonly contentEncoding: string | undefined;
  readonly contentLength: string | undefined;
  readonly transferEncoding: string | undefined;
  readonly idempotencyKeys: readonly string[];
  /** All `Cookie` values, joined by semicolons. */
  readonly cookie: string | undefined;
  /** `X-Workspace`: id of the workspace in which a person acts. */
  readonly workspace: string | undefined;
  /** `Sec-Fetch-Site`: the browser's information on whether a page of this site sent the request. */
  readonly fetchSite: string | undefined;
  readonly origin: string | undefined;
  readonly referer: string | undefined;
  readonly host: string | undefined;
  /** All `Prefer` values, joined by commas. */
  readonly prefer: string | undefined;
  /** `Simulate`: faults requested in test mode. All values, joined by commas. */
  readonly simulate: string | undefined;
  readonly forwardedFor: string | undefined;
  /** `Connect-Timeout-Ms`: the caller's timeout in milliseconds. */
  readonly timeoutMs: number | undefined;
  /** Whether `Connect-Timeout-Ms` is present but not 1 to 10 digits. */
  readonly isTimeoutMalformed: boolean;
  /** All `If-Match` values, joined by commas. */
  readonly ifMatch: string | undefined;
  /** `traceparent` as received. Empty, which is malformed, if the header occurred more than once. */
  readonly traceparent: string | undefined;
  /** All `tracestate` values, joined by commas. */
  readonly tracestate: string | undefined;
}

/** Matches the prefixes of keys and webhook secrets. */
const NAMED_SECRET = /sh[po]_|whsec_|bearer/i;
/**
 * Minimum length of session and link tokens. Hexadecimal ids contain no upper-case letters, so they do
 * not match at any length.
 */
const TOKEN_LENGTH = 43;
const MAY_BE_TOKEN = /(?=[\w-]*[a-z])(?=[\w-]*[A-Z])[\w-]{43}/;

/**
 * Whether a request id may contain a secret of the service, which would then appear in logs and
 * responses. Ids that only look like secrets also match.
 */
function mayHoldSecret(requestId: string): boolean {
  if (NAMED_SECRET.test(requestId)) return true;
  return requestId.length >= TOKEN_LENGTH && MAY_BE_TOKEN.test(requestId);
}

const VISIBLE = /^[\x21-\x7e]{1,128}$/;
const MILLISECONDS = /^[0-9]{1,10}$/;

type Picked = { -readonly [Name in keyof CallHeaders]: CallHeaders[Name] };

/**
 * Extracts the control headers from Node's raw header list, which alternates names and values. Node's
 * `headers` object drops duplicates, but two different `Authorization` headers must not count as one.
 */
export function readCallHeaders(rawHeaders: readonly string[]): CallHeaders {
  const picked: Picked & Lists = {
    requestId: "",
    authorization: [],
    apiKeys: [],
    idempotencyKeys: [],
    contentType: undefined,
    contentEncoding: undefined,
    contentLength: undefined,
    transferEncoding: undefined,
    timeoutMs: undefined,
    isTimeoutMalformed: false,
    ifMatch: undefined,
    cookie: undefined,
    workspace: undefined,
    fetchSite: undefined,
    origin: undefined,
    referer: undefined,
    host: undefined,
    prefer: undefined,
    simulate: undefined,
    forwardedFor: undefined,
    traceparent: undefined,
    tracestate: undefined,
  };
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    pick(picked, (rawHeaders[i] as string).toLowerCase(), rawHeaders[i + 1] as string);
  }
  if (picked.requestId === "") picked.requestId = randomUUID();
  return picked;
}

interface Lists {
  readonly authorization: string[];
  readonly apiKeys: string[];
  readonly idempotencyKeys: string[];
}

/** Collects one header. If a single-value header is repeated, the first value counts. */
function pick(picked: Picked & Lists, name: string, value: string): void {
  switch (name) {
    case "authorization":
      return void picked.authorization.push(value);
    case "x-api-key":
      return void picked.apiKeys.push(value);
    case "idempotency-key":
      return void picked.idempotencyKeys.push(value);
    case "x-request-id":
      if (VISIBLE.test(value) && !mayHoldSecret(value)) picked.requestId ||= value;
      return;
    case "content-type":
      return void (picked.contentType ??= value);
    case "content-encoding":
      return void (picked.contentEncoding ??= value);
    case "content-length":
      return void (picked.contentLength ??= value);
    case "transfer-encoding":
      return void (picked.transferEncoding ??= value);
    case "connect-timeout-ms":
      if (MILLISECONDS.test(value)) picked.timeoutMs ??= Number(value);
      else picked.isTimeoutMalformed = true;
      return;
    case "if-match":
      return void (picked.ifMatch = joined(picked.ifMatch, value));
    case "cookie":
      return void (picked.cookie = picked.cookie === undefined ? value : `${picked.cookie}; ${value}`);
    case "x-workspace":
      return void (picked.workspace ??= value);
    case "sec-fetch-site":
      return void (picked.fetchSite ??= value);
    case "origin":
      return void (picked.origin ??= value);
    case "referer":
      return void (picked.referer ??= value);
    case "x-forwarded-for":
      return void (picked.forwardedFor = joined(picked.forwardedFor, value));
    case "host":
    case ":authority":
      return void (picked.host ??= value);
    case "prefer":
      return void (picked.prefer = joined(picked.prefer, value));
    case "simulate":
      return void (picked.simulate = joined(picked.simulate, value));
    case "traceparent":
      return void (picked.traceparent = picked.traceparent === undefined ? value : "");
    case "tracestate":
      return void (picked.tracestate = joined(picked.tracestate, value));
  }
}

/** Appends a value to a list header (RFC 9110, 5.3). */
function joined(before: string | undefined, value: string): string {
  return before === undefined ? value : `${before},${value}`;
}

const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/;

/** @throws Refusal FIELD_INVALID if the key does not have 1 to 255 visible characters, or occurs twice */
export function readIdempotencyKey(values: readonly string[]): string | undefined {
  const [key, other] = values;
  if (key === undefined) return undefined;
  if (other === undefined && IDEMPOTENCY_KEY.test(key)) return key;
  throw refuse("FIELD_INVALID", "Idempotency-Key must be sent once, with 1 to 255 visible characters.", {
    subject: "idempotency_key",
  });
}

export interface TraceParent {
  /** Trace id: 32 lower-case hexadecimal digits. */
  readonly traceId: string;
  /** Span id: 16 lower-case hexadecimal digits. */
  readonly spanId: string;
  readonly isSampled: boolean;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const SAMPLED = 1;

/**
 * Parses a `traceparent` header (W3C Trace Context, 3.2). Returns `undefined` if the header is
 * malformed, which counts as absent. For future versions, the currently defined fields are read.
 */
export function readTraceparent(header: string): TraceParent | undefined {
  const [, version, traceId, spanId, flags, more] = TRACEPARENT.exec(header) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  if (version === "ff" || (version === "00" && more !== undefined)) return undefined;
  if (isZero(traceId) || isZero(spanId)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED };
}

function isZero(id: string): boolean {
  return /^0+$/.test(id);
}
