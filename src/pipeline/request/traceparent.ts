/** The span that a caller names as the parent of its call. */
export interface TraceParent {
  /** 32 lower-case hexadecimal digits. */
  readonly traceId: string;
  /** 16 lower-case hexadecimal digits. */
  readonly spanId: string;
  /** Whether the caller records the trace. */
  readonly isSampled: boolean;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const SAMPLED = 1;

/**
 * Reads a `traceparent` header (W3C Trace Context, section 3.2); undefined when it is malformed, which
 * means that there is none. Of a version that is still to come, the fields known today count.
 */
export function readTraceparent(header: string): TraceParent | undefined {
  const [, version, traceId, spanId, flags, more] = TRACEPARENT.exec(header) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  if (version === "ff" || (version === "00" && more !== undefined)) return undefined;
  if (isZero(traceId) || isZero(spanId)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED };
}

/** An id of zeros only is no id. */
function isZero(id: string): boolean {
  return /^0+$/.test(id);
}
