import type { LimitClass, RateLimit, Verdict } from "../../domain/rate-limit.ts";

/** Counts the calls of workspaces. */
export interface Limiter {
  /** Takes a call of a class out of what an account (a workspace, or an operator) has left. Never rejects. */
  take(
    account: number | string,
    limitClass: LimitClass,
    limit: RateLimit,
  ): Verdict | Promise<Verdict>;
  close(): Promise<void>;
}
