import type { RateLimits, RateLimitState } from "../domain/rate-limit.ts";
import type { Problem } from "../domain/refusal.ts";

/** Who calls: the workspace that an API key stands for. */
export interface Caller {
  readonly workspaceId: number;
  readonly limits: RateLimits;
}

/** Tells who an API key stands for. */
export interface ApiKeyLookup {
  /** The caller a key stands for, if that is in memory: then there is no need to look it up. */
  recall(apiKey: string): Caller | undefined;
  /**
   * The caller a well-formed key stands for; undefined when the key is unknown, revoked or expired.
   * Rejects when the key is not in memory and the database cannot be asked.
   */
  find(apiKey: string): Promise<Caller | undefined>;
}

/** One call on its way to an RPC's function, whichever door it came in by. */
export interface Call {
  readonly caller: Caller;
  readonly requestId: string;
  /** What the workspace has left for calls like this one. */
  readonly rateLimit: RateLimitState;
  /** When the caller stops waiting, on the clock of `performance.now()`, in milliseconds. */
  readonly deadlineMs: number | undefined;
  /** What the door could not read in fields whose items the RPC's function checks itself. */
  faults: readonly Problem[];
  /** Every `Idempotency-Key` value, as received. */
  readonly idempotencyKeys: readonly string[];
  /** The caller's name for the request, under which it may repeat it; for calls that write. */
  idempotencyKey: string | undefined;
  /** Set when the answer is a kept one. */
  replayed: boolean;
}
