import type { LimitClass, RateLimit, Verdict } from "../domain/rate-limit.ts";

/** Counts the calls of workspaces. */
export interface Limiter {
  /** Takes a call of a class out of what a workspace has left. Never rejects. */
  take(workspaceId: number, limitClass: LimitClass, limit: RateLimit): Verdict | Promise<Verdict>;
  close(): Promise<void>;
}
