import type { Registry } from "@prometheus-io/client";
import type { Logger } from "pino";
import { createAdmit, type Admit } from "./admit.ts";
import type { ClientAddress } from "../client-address.ts";
import { MAX_REQUEST_BYTES } from "../../domain/limits.ts";
import type { LimitClass } from "../../domain/rate-limit.ts";
import { createAuthenticate, type Authenticate } from "../credentials/authenticate.ts";
import { readCallHeaders } from "../call-headers.ts";
import {
  receiveCall,
  type KeyLookups,
  type AnyCall,
  type CallSpan,
  type Peer,
  type ReceivedCall,
  type SessionLookup,
  type Tracer,
} from "../call.ts";
import { createExecute, type Execute, type OnBehalfOf } from "./execute.ts";
import type { Limiter } from "../bounds/rate-limiter.ts";
import { createLookUps, type LookUps } from "../credentials/look-ups.ts";
import { MEMORY } from "../bounds/limits.ts";
import { createMemoryBudget } from "../bounds/memory-budget.ts";
import { createObserver } from "./observe.ts";
import { createInFlightLimit } from "../bounds/in-flight-limit.ts";
import type { Refusal } from "../../domain/refusal.ts";
import { createRefuseCall, createToRefusal, type RefuseCall } from "../refusals/to-refusal.ts";
import type { Rpc, StreamRpc } from "../rpc.ts";
import { createServeUnary, type ServeUnary } from "./serve-unary.ts";
import { createExecuteStream, type ExecuteStream } from "./execute-stream.ts";
import { createTickBatcher, type TickBatcher } from "./tick-batcher.ts";
import { compileValidateRequest, type ValidateRequest } from "../request/validate-request.ts";

/**
 * What every call goes through, whichever server it came in by: receive, admit, execute, finish. The
 * servers differ only in how they read and write.
 */
export interface Pipeline {
  /** Begins the record of a call. Raw headers alternate names and values, as Node gives them. */
  receive(rawHeaders: readonly string[], peer: Peer): ReceivedCall;
  /** Tells who calls, where there is no call; it is counted by nobody. */
  readonly authenticate: Authenticate;
  readonly admit: Admit;
  readonly execute: Execute;
  readonly executeStream: ExecuteStream;
  /** `admit`, read, `execute` and answer, for servers that read and write by themselves. */
  readonly serveUnary: ServeUnary;
  /** Of credentials, also where there is no call. */
  readonly lookUps: LookUps;
  readonly refuseCall: RefuseCall;
  /** As `refuseCall`, where there is no call. */
  toRefusal(error: unknown, requestId: string): Refusal;
  /** Takes memory for a large request until the call is finished. @throws Refusal UNAVAILABLE */
  reserveRequest(call: ReceivedCall, bytes: number): void;
  /** The same for an answer that is made for this call alone. @throws Refusal UNAVAILABLE */
  reserveResponse(call: ReceivedCall, bytes: number): void;
  /** Writes a response together with the others of this tick; `write` must not throw. */
  respond(write: () => void): void;
  /** As `Observer.end`, and ends the call's span. */
  finish(call: ReceivedCall, httpStatus: number): void;
  reservedBytes(): Readonly<Record<LargeKind, number>>;
}

export type LargeKind = keyof typeof MEMORY;

export interface PipelineOptions {
  readonly rpcs: readonly Rpc[];
  readonly streams: readonly StreamRpc[];
  readonly keys: KeyLookups;
  readonly sessions: SessionLookup;
  readonly clientAddress: ClientAddress;
  readonly isHttps: boolean;
  /** Aborts when the service shuts down. */
  readonly shutdownSignal: AbortSignal;
  /** Aborts when calls in flight are cut. */
  readonly endSignal: AbortSignal;
  /** What to tell a caller of an error that passes by itself; undefined for any other error. */
  readonly refusalOf: (error: unknown) => Refusal | undefined;
  readonly onBehalfOf: OnBehalfOf;
  readonly limiter: Limiter;
  /** How long a call waits to be looked up, in milliseconds, where a test says so. */
  readonly maxWaitMs?: number | undefined;
  /** Called for each call that is refused for its limit. */
  readonly onRateLimited: (limitClass: LimitClass) => void;
  readonly tracer?: Tracer | undefined;
  /** Counts what workspaces use; called once for each call that was admitted and has ended. */
  readonly countUsage: (call: AnyCall) => void;
  /** Called once for each call that has ended. */
  readonly logRequest: (call: ReceivedCall, httpStatus: number) => void;
  readonly log: Logger;
  readonly registry: Registry;
}

export function createPipeline(options: PipelineOptions): Pipeline {
  const { tracer, countUsage, logRequest, log } = options;
  const tickBatcher = createTickBatcher();
  const observer = createObserver({ ...options, tickBatcher });
  const methods = [...options.rpcs, ...options.streams];
  const validatorOf = compileValidators(methods);
  const inFlightLimit = createInFlightLimit();
  const lookUps = createLookUps(options.maxWaitMs);
  const authenticate = createAuthenticate({ ...options, lookUps });
  const admit = createAdmit({ ...options, authenticate, inFlightLimit });
  const execute = createExecute({ ...options, validatorOf, inFlightLimit });
  const toRefusal = createToRefusal(options.refusalOf, log);
  const refuseCall = createRefuseCall(toRefusal, methods, log);
  const requests = createMemoryBudget(MEMORY.requests, "requests");
  const answers = createMemoryBudget(MEMORY.answers, "answers");
  return {
    receive(rawHeaders, peer) {
      const headers = readCallHeaders(rawHeaders);
      // Now: a connection that has closed has no address any more.
      const address = options.clientAddress(peer.remoteAddress, headers.forwardedFor);
      const call = receiveCall(headers, peer, address);
      if (tracer !== undefined) call.span = tracer.begin(call);
      observer.begin();
      return call;
    },
    authenticate,
    admit,
    execute,
    executeStream: createExecuteStream({ ...options, authenticate, validatorOf }),
    serveUnary: createServeUnary({ admit, execute, refuseCall, tickBatcher }),
    lookUps,
    refuseCall,
    toRefusal,
    reserveRequest(call, bytes) {
      if (bytes > MAX_REQUEST_BYTES) requests.reserve(call, bytes);
    },
    reserveResponse: answers.reserve,
    respond: tickBatcher.respond,
    finish(call, httpStatus) {
      call.hasEnded = true;
      call.onEnd?.();
      requests.release(call);
      answers.release(call);
      observer.end(call, httpStatus);
      if (call.span !== undefined) endSpan(call, call.span, httpStatus, tickBatcher);
      if (call.admitted !== undefined) countUsage(call.admitted);
      tickBatcher.record(() => logRequest(call, httpStatus));
    },
    reservedBytes: () => ({
      requests: requests.reservedBytes(),
      answers: answers.reservedBytes(),
    }),
  };
}

/** Ends the span of a call now, and works out what it says together with those of this tick. */
function endSpan(
  call: ReceivedCall,
  span: CallSpan,
  httpStatus: number,
  tickBatcher: TickBatcher,
): void {
  const endedMs = performance.now();
  tickBatcher.record(() => span.end(call, httpStatus, endedMs));
}

function compileValidators(
  rpcs: readonly (Rpc | StreamRpc)[],
): (rpc: Rpc | StreamRpc) => ValidateRequest {
  const validators = new Map(rpcs.map((rpc) => [rpc, compileValidateRequest(rpc.method.input)]));
  return (rpc) => {
    const validate = validators.get(rpc);
    if (validate === undefined) throw new Error(`${rpc.name} is not among the pipeline's RPCs`);
    return validate;
  };
}
