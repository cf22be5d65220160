import type { Registry } from "@prometheus-io/client";
import type { Logger } from "pino";
import { createAdmit } from "./admit.ts";
import type { ClientAddress } from "../client-address.ts";
import { MAX_REQUEST_BYTES } from "../../domain/limits.ts";
import type { LimitClass } from "../../domain/rate-limit.ts";
import { createAuthenticate } from "../credentials/authenticate.ts";
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
import { createExecute, type OnBehalfOf } from "./execute.ts";
import type { Limiter } from "../bounds/rate-limiter.ts";
import { createLookups } from "../credentials/lookups.ts";
import { MEMORY } from "../bounds/limits.ts";
import { createMemoryBudget } from "../bounds/memory-budget.ts";
import { createObserver } from "./observe.ts";
import { createInFlightLimit } from "../bounds/in-flight-limit.ts";
import type { Refusal } from "../../domain/refusal.ts";
import { createRefuseCall, createToRefusal } from "../refusals/to-refusal.ts";
import type { Rpc, StreamRpc } from "../rpc.ts";
import { createServeUnary } from "./serve-unary.ts";
import { createExecuteStream } from "./execute-stream.ts";
import { createTickBatcher, type TickBatcher } from "./tick-batcher.ts";
import { compileValidateRequest, type ValidateRequest } from "../request/validate-request.ts";

/**
 * The stages of every call on any server: receive, admit, execute, finish. Servers differ only in how
 * they read and write.
 */
export type Pipeline = ReturnType<typeof createPipeline>;

export interface PipelineOptions {
  readonly rpcs: readonly Rpc[];
  readonly streams: readonly StreamRpc[];
  readonly keys: KeyLookups;
  readonly sessions: SessionLookup;
  readonly clientAddress: ClientAddress;
  readonly isHttps: boolean;
  readonly shutdownSignal: AbortSignal;
  /** Aborts when calls in flight are canceled. */
  readonly endSignal: AbortSignal;
  /** Returns the refusal for a transient error, `undefined` for other errors. */
  readonly refusalOf: (error: unknown) => Refusal | undefined;
  readonly onBehalfOf: OnBehalfOf;
  readonly limiter: Limiter;
  /** Maximum wait for a credential lookup, in milliseconds. Tests set it. */
  readonly maxWaitMs?: number | undefined;
  /** Called for each call that exceeds its rate limit. */
  readonly onRateLimited: (limitClass: LimitClass) => void;
  readonly tracer?: Tracer | undefined;
  /** Counts a workspace's usage. Called once at the end of each admitted call. */
  readonly countUsage: (call: AnyCall) => void;
  /** Called once at the end of each call. */
  readonly logRequest: (call: ReceivedCall, httpStatus: number) => void;
  readonly log: Logger;
  readonly registry: Registry;
}

export function createPipeline(options: PipelineOptions) {
  const { tracer, countUsage, logRequest, log } = options;
  const tickBatcher = createTickBatcher();
  const observer = createObserver({ ...options, tickBatcher });
  const methods = [...options.rpcs, ...options.streams];
  const validatorOf = compileValidators(methods);
  const inFlightLimit = createInFlightLimit();
  const lookups = createLookups(options.maxWaitMs);
  const authenticate = createAuthenticate({ ...options, lookups });
  const admit = createAdmit({ ...options, authenticate, inFlightLimit });
  const execute = createExecute({ ...options, validatorOf, inFlightLimit });
  const toRefusal = createToRefusal(options.refusalOf, log);
  const refuseCall = createRefuseCall(toRefusal, methods, log);
  const requests = createMemoryBudget(MEMORY.requests, "requests");
  const answers = createMemoryBudget(MEMORY.answers, "responses");
  return {
    /** Starts the record of a call. Raw headers alternate names and values, as in Node. */
    receive(rawHeaders: readonly string[], peer: Peer): ReceivedCall {
      const headers = readCallHeaders(rawHeaders);
      // The address is read now, because a closed connection has none.
      const address = options.clientAddress(peer.remoteAddress, headers.forwardedFor);
      const call = receiveCall(headers, peer, address);
      if (tracer !== undefined) call.span = tracer.begin(call);
      observer.begin();
      return call;
    },
    /** Authenticates without counting toward the rate limit. Can be used outside a call. */
    authenticate,
    admit,
    execute,
    executeStream: createExecuteStream({ ...options, authenticate, validatorOf }),
    /**
     * Serves a unary call: admits it, reads the request, executes it and responds. The server supplies the reading and
     * writing.
     */
    serveUnary: createServeUnary({ admit, execute, refuseCall, tickBatcher }),
    /** Lookups of credentials, which are also used outside calls. */
    lookups,
    refuseCall,
    /** Like `refuseCall`, for errors outside calls. */
    toRefusal,
    /**
     * Reserves memory for a large request until the call is finished.
     *
     * @throws Refusal UNAVAILABLE
     */
    reserveRequest(call: ReceivedCall, bytes: number): void {
      if (bytes > MAX_REQUEST_BYTES) requests.reserve(call, bytes);
    },
    /**
     * Reserves memory for an unshared response.
     *
     * @throws Refusal UNAVAILABLE
     */
    reserveResponse: answers.reserve,
    /** Writes a response together with the other responses of this tick. `write` must not throw. */
    respond: tickBatcher.respond,
    /** Records the end of a call and ends its span. Called once, with status 0 if no response was sent. */
    finish(call: ReceivedCall, httpStatus: number): void {
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

/** Ends the span of a call now, but computes its attributes together with those of other calls in the tick. */
function endSpan(call: ReceivedCall, span: CallSpan, httpStatus: number, tickBatcher: TickBatcher): void {
  const endedMs = performance.now();
  tickBatcher.record(() => span.end(call, httpStatus, endedMs));
}

function compileValidators(rpcs: readonly (Rpc | StreamRpc)[]): (rpc: Rpc | StreamRpc) => ValidateRequest {
  const validators = new Map(rpcs.map((rpc) => [rpc, compileValidateRequest(rpc.method.input)]));
  return (rpc) => {
    const validate = validators.get(rpc);
    if (validate === undefined) throw new Error(`${rpc.name} is not among the pipeline's RPCs`);
    return validate;
  };
}
