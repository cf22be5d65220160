import type { Code } from "@connectrpc/connect";
import type { RateLimits, RateLimitState } from "../domain/rate-limit.ts";
import type { Problem } from "../domain/refusal.ts";
import type { CallHeaders } from "./call-headers.ts";

/** Who calls: the workspace that an API key stands for. */
export interface Caller {
  readonly workspaceId: number;
  readonly limits: RateLimits;
}

/** Tells who an API key stands for. */
export interface ApiKeyLookup {
  /** The caller of a key that is in memory; undefined when it has to be looked up. */
  recall(apiKey: string): Caller | undefined;
  /**
   * The caller of a well-formed key; undefined when the key is unknown, revoked or expired. Rejects
   * when the key is not in memory and the database cannot be asked.
   */
  find(apiKey: string): Promise<Caller | undefined>;
}

/** The other end of the connection that a call came on. */
export interface Peer {
  readonly remoteAddress?: string | undefined;
}

/**
 * The record of one call, from its headers to its log line, on whichever server it came in. The
 * pipeline fills it in as it learns more.
 */
export interface ReceivedCall {
  readonly headers: CallHeaders;
  readonly peer: Peer;
  /** On the clock of `performance.now()`, as are all times here that end in `Ms`. */
  readonly startedMs: number;
  /** `shipments.v1.ShipmentService/QuoteShipment`; undefined until a route is found. */
  method: string | undefined;
  /** Undefined until the API key is known to be good. */
  caller: Caller | undefined;
  /** What the workspace has left for calls like this one; undefined until counted. */
  rateLimit: RateLimitState | undefined;
  /** When the caller stops waiting; undefined when it does not say. */
  deadlineMs: number | undefined;
  /** Faults of list items that the RPC's function reports itself, item by item. */
  faults: readonly Problem[];
  /** The key under which the caller may repeat the call; only for calls that write. */
  idempotencyKey: string | undefined;
  /** Whether the answer is a stored one. */
  replayed: boolean;
  /** How the call ended, as a gRPC code; 0 is success; undefined until it is answered. */
  code: Code | 0 | undefined;
}

/** A call whose caller is known and within its limits. */
export interface Call extends ReceivedCall {
  caller: Caller;
  rateLimit: RateLimitState;
}

const NO_FAULTS: readonly Problem[] = [];

/** The record of a call that has just begun. */
export function receivedCall(headers: CallHeaders, peer: Peer): ReceivedCall {
  const startedMs = performance.now();
  return {
    headers,
    peer,
    startedMs,
    method: undefined,
    caller: undefined,
    rateLimit: undefined,
    deadlineMs: headers.timeoutMs === undefined ? undefined : startedMs + headers.timeoutMs,
    faults: NO_FAULTS,
    idempotencyKey: undefined,
    replayed: false,
    code: undefined,
  };
}
