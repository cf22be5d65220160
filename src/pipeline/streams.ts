import type { Message } from "@bufbuild/protobuf";
import { Refusal, refuse, unavailable } from "../domain/refusal.ts";
import { credentialError, readApiKey, UNKNOWN_KEY } from "./authenticate.ts";
import type { ApiKeyLookup, Call } from "./call.ts";
import type { StreamRpc } from "./rpc.ts";
import type { ValidateRequest } from "./validate-request.ts";

/**
 * Validates a request and runs an RPC that answers with a stream. The stream ends when `signal`
 * aborts or when the caller's key stops working.
 *
 * @throws Refusal FIELD_INVALID, CREDENTIAL_REFUSED, RATE_LIMITED when the workspace has too many
 * streams, UNAVAILABLE when the process has or the service shuts down, and whatever the function
 * throws
 */
export type ExecuteStream = (
  rpc: StreamRpc,
  request: Message,
  call: Call,
  signal: AbortSignal,
) => AsyncIterable<Message>;

/** How many streams one process, and one workspace in it, may hold open. */
const MAX_STREAMS = 500;
const MAX_STREAMS_OF_WORKSPACE = 20;
/** How often it is checked whether the key of an open stream still works, in milliseconds. */
const RECHECK_MS = 400;

/** Builds the step that executes streams. */
export function createExecuteStream(options: {
  readonly validatorOf: (rpc: StreamRpc) => ValidateRequest;
  readonly apiKeys: ApiKeyLookup;
  /** Why calls cannot be taken now ("shutting down"); undefined when they can. */
  readonly closedBecause: () => string | undefined;
}): ExecuteStream {
  const { validatorOf, apiKeys, closedBecause } = options;
  const open = createStreamCounts();

  /** Ends a stream whose key no longer works; not one whose key cannot be looked up now. */
  async function recheck({ headers }: Call, ending: AbortController): Promise<void> {
    try {
      const caller = await apiKeys.find(readApiKey(headers));
      if (caller === undefined) throw credentialError(UNKNOWN_KEY);
    } catch (error) {
      if (error instanceof Refusal) ending.abort(error);
    }
  }

  return async function* (rpc, request, call, signal) {
    const { workspaceId } = call.caller;
    const ending = new AbortController();
    open.add(workspaceId);
    const rechecking = setInterval(() => void recheck(call, ending), RECHECK_MS);
    try {
      validatorOf(rpc)(request, []);
      yield* rpc.run(request, call, AbortSignal.any([signal, ending.signal]));
      const closed = closedBecause();
      if (closed !== undefined) throw unavailable(`The service is ${closed}; go on elsewhere.`);
      ending.signal.throwIfAborted();
    } finally {
      clearInterval(rechecking);
      open.remove(workspaceId);
    }
  };
}

/** Counts open streams by workspace, and refuses those beyond the bounds. */
function createStreamCounts() {
  const counts = new Map<number, number>();
  let all = 0;
  return {
    add(workspaceId: number): void {
      const ofWorkspace = counts.get(workspaceId) ?? 0;
      if (ofWorkspace >= MAX_STREAMS_OF_WORKSPACE) throw tooManyStreamsError();
      if (all >= MAX_STREAMS) {
        throw unavailable("There are too many open streams here; try again in a moment.");
      }
      all++;
      counts.set(workspaceId, ofWorkspace + 1);
    },
    remove(workspaceId: number): void {
      all--;
      const left = (counts.get(workspaceId) ?? 1) - 1;
      if (left === 0) counts.delete(workspaceId);
      else counts.set(workspaceId, left);
    },
  };
}

function tooManyStreamsError(): Refusal {
  return refuse(
    "RATE_LIMITED",
    `The workspace has ${MAX_STREAMS_OF_WORKSPACE} streams open here, and may have no more; close one first.`,
    { retryAfterSeconds: 1 },
  );
}
