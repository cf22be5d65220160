import type { Message } from "@bufbuild/protobuf";
import type { Logger } from "pino";
import type { RateLimitState, Verdict } from "../domain/rate-limit.ts";
import { Refusal, refuse, unavailable, type Problem } from "../domain/refusal.ts";
import { credentialRefused, readApiKey, requireKeyForm } from "./authenticate.ts";
import type { CallHeaders } from "./call-headers.ts";
import type { Call, Caller, ApiKeyLookup } from "./call.ts";
import type { Limiter } from "./limiter.ts";
import { readIdempotencyKey } from "./idempotency-key.ts";
import type { Rpc, StreamRpc } from "./rpc.ts";
import { compileValidateRequest, type ValidateRequest } from "./validate-request.ts";

/**
 * What every call goes through, whichever door it came in by: first `admit`, before a byte of its
 * body is read, then `perform`.
 */
export interface Pipeline {
  /**
   * Finds out who calls, and whether it may call as often.
   *
   * @throws Refusal CREDENTIAL_REFUSED, RATE_LIMITED, or UNAVAILABLE while starting, stopping, overloaded or when
   * the key cannot be looked up.
   */
  admit(rpc: Rpc | StreamRpc, headers: CallHeaders): Call | Promise<Call>;
  /**
   * Validates the request and runs the RPC's function. `faults` are problems the door found while
   * it decoded the request.
   *
   * @throws Refusal and nothing else; a defect becomes INTERNAL and is logged with its cause.
   */
  perform(
    rpc: Rpc,
    request: Message,
    call: Call,
    faults?: readonly Problem[],
  ): Message | Promise<Message>;
  /**
   * As `perform`, for an RPC that answers with a stream, which ends when `signal` aborts or the
   * caller's key stops working.
   */
  follow(
    rpc: StreamRpc,
    request: Message,
    call: Call,
    headers: CallHeaders,
    signal: AbortSignal,
  ): AsyncIterable<Message>;
  /** Any error as the refusal to answer with; logs what is a defect. */
  refusalFor(error: unknown, requestId: string): Refusal;
}

const NO_FAULTS: readonly Problem[] = [];
const UNKNOWN_KEY = "is not known, was revoked or has expired";
/** How many calls may be under way in one process; more are told to come back. */
const MAX_CALLS_UNDER_WAY = 1_000;
/** How many streams one process, and one workspace in it, may hold open. */
const MAX_STREAMS = 500;
const MAX_STREAMS_OF_WORKSPACE = 20;
/** The longest that a timer of Node can wait, in milliseconds: 24 days. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** How often it is checked whether the key of an open stream still works, in milliseconds. */
const RECHECK_MS = 400;

/** Builds the pipeline that the given RPCs are called through. */
export function createPipeline(options: {
  readonly rpcs: readonly Rpc[];
  readonly streams: readonly StreamRpc[];
  readonly callers: ApiKeyLookup;
  /** Why calls cannot be taken now ("starting"); undefined when they can. */
  readonly closedBecause: () => string | undefined;
  /** Whether an error will pass by itself: the database is away or overloaded. */
  readonly isTransient: (error: unknown) => boolean;
  readonly limiter: Limiter;
  readonly log: Logger;
}): Pipeline {
  const { callers, closedBecause, isTransient, limiter, log } = options;
  const checks = new Map<Rpc | StreamRpc, ValidateRequest>(
    [...options.rpcs, ...options.streams].map((rpc) => [
      rpc,
      compileValidateRequest(rpc.method.input),
    ]),
  );
  let underWay = 0;
  const openStreams = new Map<number, number>();

  function admit(rpc: Rpc | StreamRpc, headers: CallHeaders): Call | Promise<Call> {
    const closed = closedBecause();
    if (closed !== undefined) throw unavailable(`The service is ${closed}; try again in a moment.`);
    if (underWay >= MAX_CALLS_UNDER_WAY) {
      throw unavailable("The service is overloaded; try again in a moment.");
    }
    const apiKey = readApiKey(headers);
    const known = callers.recall(apiKey);
    if (known !== undefined) return limitCall(rpc, known, headers);
    requireKeyForm(apiKey);
    return callers.find(apiKey).then(
      (found) => limitCall(rpc, found, headers),
      (error: unknown) => {
        throw refusalFor(error, headers.requestId);
      },
    );
  }

  function limitCall(
    { limitClass }: Rpc | StreamRpc,
    caller: Caller | undefined,
    headers: CallHeaders,
  ): Call | Promise<Call> {
    if (caller === undefined) throw credentialRefused(UNKNOWN_KEY);
    const limit = caller.limits[limitClass];
    const verdict = limiter.take(caller.workspaceId, limitClass, limit);
    const callUnlessLimited = (verdict: Verdict) => {
      const rateLimit = { limitClass, limit, verdict };
      if (!verdict.allowed) throw rateLimited(rateLimit);
      return callOf(caller, rateLimit, headers);
    };
    return verdict instanceof Promise
      ? verdict.then(callUnlessLimited)
      : callUnlessLimited(verdict);
  }

  function perform(
    rpc: Rpc,
    request: Message,
    call: Call,
    faults: readonly Problem[] = NO_FAULTS,
  ): Message | Promise<Message> {
    try {
      const left = checks.get(rpc)?.(request, faults) ?? NO_FAULTS;
      if (call.deadlineMs !== undefined && call.deadlineMs <= performance.now()) throw tooLate();
      call.faults = left;
      if (!rpc.readOnly) call.idempotencyKey = readIdempotencyKey(call.idempotencyKeys);
      const answer = rpc.run(request, call);
      return answer instanceof Promise ? finish(answer, call) : answer;
    } catch (error) {
      throw refusalFor(error, call.requestId);
    }
  }

  async function finish(answer: Promise<Message>, call: Call): Promise<Message> {
    underWay++;
    // Until its work ends, though the caller may have stopped waiting before.
    const ended = () => void underWay--;
    answer.then(ended, ended);
    try {
      return await (call.deadlineMs === undefined ? answer : answerBefore(call.deadlineMs, answer));
    } catch (error) {
      throw refusalFor(error, call.requestId);
    }
  }

  async function* follow(
    rpc: StreamRpc,
    request: Message,
    call: Call,
    headers: CallHeaders,
    signal: AbortSignal,
  ): AsyncIterable<Message> {
    const { workspaceId } = call.caller;
    const ending = new AbortController();
    let rechecking: NodeJS.Timeout | undefined;
    enterStream(workspaceId);
    try {
      checks.get(rpc)?.(request, NO_FAULTS);
      rechecking = setInterval(() => void recheck(headers, ending), RECHECK_MS);
      yield* rpc.run(request, call, AbortSignal.any([signal, ending.signal]));
      const closed = closedBecause();
      if (closed !== undefined) throw unavailable(`The service is ${closed}; go on elsewhere.`);
      ending.signal.throwIfAborted();
    } catch (error) {
      throw refusalFor(error, call.requestId);
    } finally {
      clearInterval(rechecking);
      leaveStream(workspaceId);
    }
  }

  /** Ends a stream whose key does not work any more; one that cannot be looked up is not ended. */
  async function recheck(headers: CallHeaders, ending: AbortController): Promise<void> {
    try {
      const caller = await callers.find(readApiKey(headers));
      if (caller === undefined) throw credentialRefused(UNKNOWN_KEY);
    } catch (error) {
      if (error instanceof Refusal) ending.abort(error);
    }
  }

  function enterStream(workspaceId: number): void {
    const ofWorkspace = openStreams.get(workspaceId) ?? 0;
    const all = openStreams.values().reduce((sum, count) => sum + count, 0);
    if (all >= MAX_STREAMS || ofWorkspace >= MAX_STREAMS_OF_WORKSPACE) {
      throw unavailable("There are too many open streams; close some, or try again in a moment.");
    }
    openStreams.set(workspaceId, ofWorkspace + 1);
  }

  function leaveStream(workspaceId: number): void {
    const left = (openStreams.get(workspaceId) ?? 1) - 1;
    if (left === 0) openStreams.delete(workspaceId);
    else openStreams.set(workspaceId, left);
  }

  function refusalFor(error: unknown, requestId: string): Refusal {
    if (error instanceof Refusal) return error;
    if (isTransient(error)) {
      log.warn({ requestId, err: error }, "database unavailable");
      return unavailable("The service cannot reach its database; try again in a moment.", error);
    }
    log.error({ requestId, err: error }, "defect");
    return refuse("INTERNAL", "The service failed; report this with the request id.", {
      cause: error,
    });
  }

  return { admit, perform, follow, refusalFor };
}

function callOf(caller: Caller, rateLimit: RateLimitState, headers: CallHeaders): Call {
  const { requestId, timeoutMs, idempotencyKeys } = headers;
  return {
    caller,
    requestId,
    rateLimit,
    deadlineMs: timeoutMs === undefined ? undefined : performance.now() + timeoutMs,
    faults: NO_FAULTS,
    idempotencyKeys,
    idempotencyKey: undefined,
    replayed: false,
  };
}

function rateLimited(rateLimit: RateLimitState): Refusal {
  const { limitClass, verdict } = rateLimit;
  const { resetSeconds: retryAfterSeconds } = verdict;
  return refuse(
    "RATE_LIMITED",
    `The workspace has used up its ${limitClass} calls; try again in ${retryAfterSeconds} s.`,
    { retryAfterSeconds, rateLimit },
  );
}

/**
 * Waits for the answer no longer than the caller does. What was begun still ends; its answer goes
 * nowhere.
 */
async function answerBefore<T>(deadlineMs: number, answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const passed = new Promise<never>((_, reject) => {
    const leftMs = Math.max(0, deadlineMs - performance.now());
    timer = setTimeout(() => reject(tooLate()), Math.min(leftMs, LONGEST_TIMER_MS));
  });
  answer.catch(() => undefined);
  try {
    return await Promise.race([answer, passed]);
  } finally {
    clearTimeout(timer);
  }
}

function tooLate(): Refusal {
  return refuse("DEADLINE_EXCEEDED", "The caller's deadline passed before the answer.");
}
