import { includesRole } from "../domain/operator-role.ts";
import type { RateLimitState, Verdict } from "../domain/rate-limit.ts";
import { refuse, unavailable, type Refusal } from "../domain/refusal.ts";
import { assertKeyForm, credentialError, readKey, UNKNOWN_KEY } from "./authenticate.ts";
import type { AnyCall, Audience, Caller, KeyLookups, ReceivedCall } from "./call.ts";
import type { Limiter } from "./limiter.ts";
import type { Places } from "./places.ts";
import type { Rpc, StreamRpc } from "./rpc.ts";
import { createUnknownKeys } from "./unknown-keys.ts";

/**
 * Finds out who calls, whether it may, and counts the call against the caller's limit, before a byte of the body is
 * read. Fills in `caller` and `rateLimit`, and gives the same record back; at once
 * where nothing has to be waited for.
 *
 * @throws Refusal CREDENTIAL_REFUSED, WORKSPACE_SUSPENDED, ROLE_INSUFFICIENT, RATE_LIMITED (calls of
 * the caller, or unknown keys from the address), or UNAVAILABLE while starting, stopping or overloaded; rejects with the database's error
 * when the key cannot be looked up
 */
export type Admit = (rpc: Rpc | StreamRpc, call: ReceivedCall) => AnyCall | Promise<AnyCall>;

/** Builds the step that admits calls. */
export function createAdmit(options: {
  readonly keys: KeyLookups;
  /** Why calls cannot be taken now ("starting"); undefined when they can. */
  readonly closedBecause: () => string | undefined;
  readonly places: Pick<Places, "assertSome">;
  readonly limiter: Limiter;
}): Admit {
  const { keys, closedBecause, places, limiter } = options;
  const unknownKeys = createUnknownKeys(() => performance.now());

  function count(
    rpc: Rpc | StreamRpc,
    call: ReceivedCall,
    caller: Caller,
  ): AnyCall | Promise<AnyCall> {
    assertMayCall(rpc, caller);
    places.assertSome(caller.account);
    const { limitClass } = rpc;
    const limit = caller.limits[limitClass];
    const verdict = limiter.take(caller.account, limitClass, limit);
    const admitted = (counted: Verdict): AnyCall => {
      const rateLimit = { limitClass, limit, verdict: counted };
      if (!counted.allowed) throw rateLimitError(rateLimit, caller.audience);
      return Object.assign(call, { caller, rateLimit });
    };
    return verdict instanceof Promise ? verdict.then(admitted) : admitted(verdict);
  }

  return (rpc, call) => {
    const closed = closedBecause();
    if (closed !== undefined) throw unavailable(`The service is ${closed}; try again in a moment.`);
    const { audience } = rpc;
    const key = readKey(call.headers, audience);
    call.key = key;
    const known = keys[audience].recall(key);
    if (known !== undefined) return count(rpc, call, known);
    assertKeyForm(key, audience);
    const address = call.peer.remoteAddress ?? "";
    unknownKeys.assertFew(address);
    return keys[audience].find(key).then((found) => {
      if (found === undefined) {
        unknownKeys.count(address);
        throw credentialError(UNKNOWN_KEY, audience);
      }
      return count(rpc, call, found);
    });
  };
}

/** @throws Refusal WORKSPACE_SUSPENDED, ROLE_INSUFFICIENT */
function assertMayCall({ method, minimumRole }: Rpc | StreamRpc, caller: Caller): void {
  if (caller.audience === "workspace") {
    if (caller.suspended) throw suspendedError();
  } else if (!includesRole(caller.role, minimumRole)) {
    const text = `${method.name} needs the role ${minimumRole}; yours is ${caller.role}.`;
    throw refuse("ROLE_INSUFFICIENT", text);
  }
}

/** The refusal of every call of a suspended workspace. */
export function suspendedError(): Refusal {
  const text = "The workspace is suspended: its calls are refused until the platform resumes it.";
  return refuse("WORKSPACE_SUSPENDED", text);
}

function rateLimitError(rateLimit: RateLimitState, audience: Audience): Refusal {
  const { limitClass, verdict } = rateLimit;
  const { resetSeconds: retryAfterSeconds } = verdict;
  return refuse(
    "RATE_LIMITED",
    `The ${audience} has used up its ${limitClass} calls; try again in ${retryAfterSeconds} s.`,
    { retryAfterSeconds, rateLimit },
  );
}
