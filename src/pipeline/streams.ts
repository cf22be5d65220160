import type { Message } from "@bufbuild/protobuf";
import { Refusal, refuse, unavailable } from "../domain/refusal.ts";
import { assertMayCall } from "./assert-may-call.ts";
import type { Authenticate } from "./authenticate.ts";
import type { AnyCall, Caller } from "./call.ts";
import type { StreamRpc } from "./rpc.ts";
import type { ValidateRequest } from "./validate-request.ts";

/**
 * Validates a request and runs an RPC that answers with a stream. The stream ends when `signal`
 * aborts, or when its caller may no longer call.
 *
 * @throws Refusal of `Authenticate` and `assertMayCall`, FIELD_INVALID, RATE_LIMITED when the workspace has too many
 * streams, UNAVAILABLE when the process has or the service shuts down, and whatever the function
 * throws
 */
export type ExecuteStream = (
  rpc: StreamRpc,
  request: Message,
  call: AnyCall,
  signal: AbortSignal,
) => AsyncIterable<Message>;

/** How many streams one process, and one workspace, or one person who has signed in, in it, may hold open. */
const MAX_STREAMS = 500;
const MAX_STREAMS_OF_ACCOUNT = 20;
/** How often it is checked whether the key of an open stream still works, in milliseconds. */
const RECHECK_MS = 400;

/** Builds the step that executes streams. */
export function createExecuteStream(options: {
  readonly validatorOf: (rpc: StreamRpc) => ValidateRequest;
  readonly authenticate: Authenticate;
  /** Why calls cannot be taken now ("shutting down"); undefined when they can. */
  readonly closedBecause: () => string | undefined;
}): ExecuteStream {
  const { validatorOf, authenticate, closedBecause } = options;
  const open = createStreamCounts();

  /** Ends a stream whose caller may no longer call; not one whose caller cannot be looked up now. */
  async function recheck(rpc: StreamRpc, call: AnyCall, ending: AbortController): Promise<void> {
    try {
      assertMayCall(rpc, await authenticate(rpc.audience, call));
    } catch (error) {
      if (error instanceof Refusal) ending.abort(error);
    }
  }

  return async function* (rpc, request, call, signal) {
    const account = holderOf(call.caller);
    const ending = new AbortController();
    open.add(account);
    const rechecking = setInterval(() => void recheck(rpc, call, ending), RECHECK_MS);
    try {
      validatorOf(rpc)(request, []);
      yield* rpc.run(request, call, AbortSignal.any([signal, ending.signal]));
      const closed = closedBecause();
      if (closed !== undefined) throw unavailable(`The service is ${closed}; go on elsewhere.`);
      ending.signal.throwIfAborted();
    } finally {
      clearInterval(rechecking);
      open.remove(account);
    }
  };
}

/** Whose streams are counted together: people do not use up those of their workspace's programs. */
function holderOf(caller: Caller): number | string {
  if (caller.audience !== "workspace" || caller.member === undefined) return caller.account;
  return `person ${caller.member.personId}`;
}

/** Counts open streams by workspace, and refuses those beyond the bounds. */
function createStreamCounts() {
  const counts = new Map<number | string, number>();
  let all = 0;
  return {
    add(account: number | string): void {
      const ofAccount = counts.get(account) ?? 0;
      if (ofAccount >= MAX_STREAMS_OF_ACCOUNT) throw tooManyStreamsError();
      if (all >= MAX_STREAMS) {
        throw unavailable("There are too many open streams here; try again in a moment.");
      }
      all++;
      counts.set(account, ofAccount + 1);
    },
    remove(account: number | string): void {
      all--;
      const left = (counts.get(account) ?? 1) - 1;
      if (left === 0) counts.delete(account);
      else counts.set(account, left);
    },
  };
}

function tooManyStreamsError(): Refusal {
  return refuse(
    "RATE_LIMITED",
    `The workspace has ${MAX_STREAMS_OF_ACCOUNT} streams open here, and may have no more; close one first.`,
    { retryAfterSeconds: 1 },
  );
}
