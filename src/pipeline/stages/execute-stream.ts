import type { Message } from "@bufbuild/protobuf";
import { Refusal, refuse, unavailable } from "../../domain/refusal.ts";
import { STREAMS } from "../bounds/limits.ts";
import { assertMayCall } from "../credentials/assert-may-call.ts";
import type { Authenticate } from "../credentials/authenticate.ts";
import type { AnyCall, Caller } from "../call.ts";
import { fileFieldOf } from "../file-field.ts";
import type { DecodedRequest, OnBehalfOf } from "./execute.ts";
import type { StreamRpc } from "../rpc.ts";
import type { ValidateRequest } from "../request/validate-request.ts";

/**
 * Validates a request and runs a streaming RPC. The stream ends when `signal` aborts or its caller loses permission.
 * It also ends at shutdown, unless it is a file.
 *
 * @throws Refusal of `Authenticate` and `assertMayCall`, FIELD_INVALID, RATE_LIMITED if the account or person has too
 *   many streams, UNAVAILABLE if the process has too many streams or is shutting down, and errors of the function
 */
export type ExecuteStream = (
  rpc: StreamRpc,
  decoded: DecodedRequest,
  call: AnyCall,
  signal: AbortSignal,
) => AsyncIterable<Message>;

/** Interval between checks that the caller of an open stream still has permission, in milliseconds. */
const RECHECK_MS = 400;

export function createExecuteStream(options: {
  readonly validatorOf: (rpc: StreamRpc) => ValidateRequest;
  readonly authenticate: Authenticate;
  readonly shutdownSignal: AbortSignal;
  readonly onBehalfOf: OnBehalfOf;
}): ExecuteStream {
  const { validatorOf, authenticate, shutdownSignal, onBehalfOf } = options;
  const open = createStreamCounts();

  /**
   * Ends a stream whose caller has lost permission. The stream continues if the lookup of the caller temporarily fails.
   */
  async function recheck(rpc: StreamRpc, call: AnyCall, ending: AbortController): Promise<void> {
    try {
      assertMayCall(rpc, await authenticate(rpc.audience, call.received));
    } catch (error) {
      if (error instanceof Refusal && error.retryAfterSeconds === undefined) ending.abort(error);
    }
  }

  return async function* (rpc, decoded, call, signal) {
    const { caller } = call;
    const ending = new AbortController();
    const isFile = fileFieldOf(rpc.method.output) !== undefined;
    const assertOpen = () => {
      if (isFile || !shutdownSignal.aborted) return;
      throw unavailable("The service is shutting down. Reconnect.");
    };
    const signals = [signal, ending.signal, ...(isFile ? [] : [shutdownSignal])];
    open.add(caller);
    const rechecking = setInterval(() => void recheck(rpc, call, ending), RECHECK_MS);
    try {
      validatorOf(rpc)(decoded.request, decoded);
      const messages = rpc.run(decoded.request, call, AbortSignal.any(signals));
      for await (const message of eachOnBehalfOf(caller.account, messages, onBehalfOf)) {
        yield message;
        assertOpen();
      }
      assertOpen();
      ending.signal.throwIfAborted();
    } finally {
      clearInterval(rechecking);
      open.remove(caller);
    }
  };
}

function eachOnBehalfOf(
  account: number | string,
  messages: AsyncIterable<Message>,
  onBehalfOf: OnBehalfOf,
): AsyncIterable<Message> {
  const iterator = messages[Symbol.asyncIterator]();
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => onBehalfOf(account, () => iterator.next()),
      return: async () => (await iterator.return?.()) ?? { done: true, value: undefined },
    }),
  };
}

/**
 * Returns the holder whose streams are counted together. A person is a separate holder, so that people
 * do not use up the streams of their workspace's programs.
 */
function holderOf(caller: Caller): number | string {
  if (caller.audience !== "workspace" || caller.member === undefined) return caller.account;
  return `person ${caller.member.personId}`;
}

function createStreamCounts() {
  const ofAccounts: Counts = new Map();
  const ofHolders: Counts = new Map();
  let all = 0;
  return {
    add(caller: Caller): void {
      const holder = holderOf(caller);
      const whose = holder === caller.account ? "The workspace's keys have" : "You have";
      assertFewer(ofHolders, holder, STREAMS.ofHolder, whose);
      assertFewer(ofAccounts, caller.account, STREAMS.ofAccount, "The workspace has");
      if (all >= STREAMS.ofProcess) {
        throw unavailable("This server has too many open streams. Try again in a moment.");
      }
      all++;
      addTo(ofHolders, holder, 1);
      addTo(ofAccounts, caller.account, 1);
    },
    remove(caller: Caller): void {
      all--;
      addTo(ofHolders, holderOf(caller), -1);
      addTo(ofAccounts, caller.account, -1);
    },
  };
}

type Counts = Map<number | string, number>;

function addTo(counts: Counts, key: number | string, more: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + more;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}

function assertFewer(counts: Counts, key: number | string, limit: number, whose: string): void {
  if ((counts.get(key) ?? 0) < limit) return;
  throw refuse("RATE_LIMITED", `${whose} ${limit} streams open here, which is the maximum. Close one first.`, {
    retryAfterSeconds: 1,
  });
}
