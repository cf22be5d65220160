import type { LimitClass, RateLimitState, Verdict } from "../../domain/rate-limit.ts";
import { refuse, type Refusal } from "../../domain/refusal.ts";
import { assertMayCall } from "../credentials/assert-may-call.ts";
import type { Authenticate } from "../credentials/authenticate.ts";
import { admitCall, type AnyCall, type Audience, type Caller, type ReceivedCall } from "../call.ts";
import type { Limiter } from "../bounds/rate-limiter.ts";
import type { InFlightLimit } from "../bounds/in-flight-limit.ts";
import type { Rpc, StreamRpc } from "../rpc.ts";
import { createSimulate } from "./simulate.ts";

/**
 * Authenticates, authorizes and rate-limits a call before its body is read. Synchronous if possible.
 *
 * @throws Refusal of `Authenticate`, `assertMayCall` and `Simulate`, RATE_LIMITED, or UNAVAILABLE under
 *   overload. Rejects with the database's error if authentication fails because of the database
 */
export type Admit = (rpc: Rpc | StreamRpc, call: ReceivedCall) => AnyCall | Promise<AnyCall>;

export function createAdmit(options: {
  readonly authenticate: Authenticate;
  readonly inFlightLimit: Pick<InFlightLimit, "assertCapacity">;
  readonly limiter: Limiter;
  readonly onRateLimited: (limitClass: LimitClass) => void;
}): Admit {
  const { authenticate, inFlightLimit, limiter, onRateLimited } = options;
  const simulate = createSimulate();

  function count(rpc: Rpc | StreamRpc, call: ReceivedCall, caller: Caller): AnyCall | Promise<AnyCall> {
    call.caller = caller;
    assertMayCall(rpc, caller);
    inFlightLimit.assertCapacity(caller.account);
    const { limitClass } = rpc;
    const limit = caller.limits[limitClass];
    const verdict = limiter.consume(caller.account, limitClass, limit);
    const admitted = (counted: Verdict): AnyCall | Promise<AnyCall> => {
      call.rateLimit = { limitClass, limit, verdict: counted };
      if (!counted.allowed) {
        if (caller.audience !== "workspace" || !caller.test) onRateLimited(limitClass);
        throw rateLimitError(call.rateLimit, caller.audience);
      }
      const admittedCall = admitCall(call, rpc.name, caller);
      const met = simulate(rpc, call, caller);
      return met instanceof Promise ? met.then(() => admittedCall) : admittedCall;
    };
    return verdict instanceof Promise ? verdict.then(admitted) : admitted(verdict);
  }

  return (rpc, call) => {
    const caller = authenticate(rpc.audience, call);
    if (caller instanceof Promise) return caller.then((found) => count(rpc, call, found));
    return count(rpc, call, caller);
  };
}

const NAMES: Readonly<Record<Audience, string>> = {
  workspace: "workspace",
  operator: "operator",
  person: "account",
};

export function rateLimitError({ limitClass, verdict }: RateLimitState, audience: Audience): Refusal {
  const { resetSeconds: retryAfterSeconds } = verdict;
  return refuse(
    "RATE_LIMITED",
    `The ${NAMES[audience]} has used up its ${limitClass} calls. Try again in ${retryAfterSeconds} s.`,
    { retryAfterSeconds },
  );
}
