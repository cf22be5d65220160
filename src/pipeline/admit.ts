import type { Verdict } from "../domain/rate-limit.ts";
import { refuse, unavailable, type Refusal } from "../domain/refusal.ts";
import { credentialError, readApiKey, assertKeyForm, UNKNOWN_KEY } from "./authenticate.ts";
import type { ApiKeyLookup, Call, Caller, ReceivedCall } from "./call.ts";
import type { Limiter } from "./limiter.ts";
import type { Places } from "./places.ts";
import type { Rpc, StreamRpc } from "./rpc.ts";
import { createUnknownKeys } from "./unknown-keys.ts";

/**
 * Finds out who calls and counts the call against the caller's limit, before a byte of the body is
 * read. Fills in `caller` and `rateLimit`, and gives the same record back; at once
 * where nothing has to be waited for.
 *
 * @throws Refusal CREDENTIAL_REFUSED, RATE_LIMITED (calls of the workspace, or unknown keys from the
 * address), or UNAVAILABLE while starting, stopping or overloaded; rejects with the database's error
 * when the key cannot be looked up
 */
export type Admit = (rpc: Rpc | StreamRpc, call: ReceivedCall) => Call | Promise<Call>;

/** Builds the step that admits calls. */
export function createAdmit(options: {
  readonly apiKeys: ApiKeyLookup;
  /** Why calls cannot be taken now ("starting"); undefined when they can. */
  readonly closedBecause: () => string | undefined;
  readonly places: Pick<Places, "assertSome">;
  readonly limiter: Limiter;
}): Admit {
  const { apiKeys, closedBecause, places, limiter } = options;
  const unknownKeys = createUnknownKeys(() => performance.now());

  function count(rpc: Rpc | StreamRpc, call: ReceivedCall, caller: Caller): Call | Promise<Call> {
    places.assertSome(caller.workspaceId);
    const { limitClass } = rpc;
    const limit = caller.limits[limitClass];
    const verdict = limiter.take(caller.workspaceId, limitClass, limit);
    const admitted = (counted: Verdict): Call => {
      const rateLimit = { limitClass, limit, verdict: counted };
      if (!counted.allowed) throw rateLimitError(rateLimit);
      return Object.assign(call, { caller, rateLimit });
    };
    return verdict instanceof Promise ? verdict.then(admitted) : admitted(verdict);
  }

  return (rpc, call) => {
    const closed = closedBecause();
    if (closed !== undefined) throw unavailable(`The service is ${closed}; try again in a moment.`);
    const apiKey = readApiKey(call.headers);
    const known = apiKeys.recall(apiKey);
    if (known !== undefined) return count(rpc, call, known);
    assertKeyForm(apiKey);
    const address = call.peer.remoteAddress ?? "";
    unknownKeys.assertFew(address);
    return apiKeys.find(apiKey).then((found) => {
      if (found === undefined) {
        unknownKeys.count(address);
        throw credentialError(UNKNOWN_KEY);
      }
      return count(rpc, call, found);
    });
  };
}

function rateLimitError(rateLimit: Call["rateLimit"]): Refusal {
  const { limitClass, verdict } = rateLimit;
  const { resetSeconds: retryAfterSeconds } = verdict;
  return refuse(
    "RATE_LIMITED",
    `The workspace has used up its ${limitClass} calls; try again in ${retryAfterSeconds} s.`,
    { retryAfterSeconds, rateLimit },
  );
}
