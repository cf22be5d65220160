import { constants } from "node:http2";
import type { Message } from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  createConnectRouter,
  createContextKey,
  createContextValues,
  type ConnectRouter,
  type HandlerContext,
} from "@connectrpc/connect";
import { MAX_REQUEST_BYTES } from "../../domain/limits.ts";
import type { Refusal } from "../../domain/refusal.ts";
import { DocumentResponse, messageOf } from "../../pipeline/rpc-response.ts";
import type { AnyCall, ReceivedCall } from "../../pipeline/call.ts";
import { deadlineError } from "../../pipeline/stages/deadline.ts";
import type { Pipeline } from "../../pipeline/stages/pipeline.ts";
import { isAnswerLost } from "../../pipeline/stages/simulate.ts";
import { rateLimitHeaders } from "../../pipeline/bounds/rate-limiter.ts";
import { isStream, type Rpc, type StreamRpc } from "../../pipeline/rpc.ts";
import { breakConnection, loseStreamAnswer } from "../connections/write-response.ts";
import { connectError, grpcError, truncateMessage } from "./connect-error.ts";
import { requestJsonOptions } from "./json-options.ts";
import { splitUrl } from "./request-target.ts";
import { createNodeAdapter } from "./node-adapter.ts";
import {
  IDLE_STREAM_MS,
  CONNECT_OPTIONS,
  type NodeRequest,
  type NodeResponse,
  type RpcHandler,
} from "./connect-options.ts";
import { malformedTimeoutError, isPastDeadline } from "./deadlines.ts";
import { unreadableRequest } from "./unreadable-request.ts";

type AnyRpc = Rpc | StreamRpc;

interface Exchange {
  readonly call: ReceivedCall;
  readonly request: NodeRequest;
}

const exchangeKey = createContextKey<Exchange | undefined>(undefined);

/**
 * Serves RPCs over Connect, gRPC-Web and, on HTTP/2, gRPC. Connect's request gate admits calls before
 * their body is read, and the pipeline then executes them. `addServices` registers services without
 * credentials (health, reflection). Requests for unknown RPCs are refused.
 */
export function createRpcHandler(options: {
  readonly rpcs: readonly Rpc[];
  readonly streams: readonly StreamRpc[];
  readonly pipeline: Pipeline;
  readonly addServices: (router: ConnectRouter) => void;
  readonly grpc: boolean;
}): RpcHandler {
  const { pipeline } = options;
  const rpcs: readonly AnyRpc[] = [...options.rpcs, ...options.streams];
  const exchanges = new WeakMap<NodeRequest, Exchange>();
  const router = createConnectRouter({
    grpc: options.grpc,
    ...CONNECT_OPTIONS,
    requestGate: beginCall,
  });
  for (const rpc of rpcs) {
    const own = {
      requestGate: createGate(rpc, pipeline),
      readMaxBytes: rpc.maxRequestBytes,
      jsonOptions: requestJsonOptions(rpc.method.input),
    };
    if (isStream(rpc)) router.rpc(rpc.method, implementStream(rpc, pipeline), own);
    else router.rpc(rpc.method, implementUnary(rpc, pipeline), own);
  }
  options.addServices(router);
  const contextValuesOf = (request: NodeRequest) => createContextValues().set(exchangeKey, exchanges.get(request));
  const adapter = createNodeAdapter(router, contextValuesOf);

  return (request, response) => {
    const call = pipeline.receive(request.rawHeaders, request.socket);
    [call.path] = splitUrl(request);
    exchanges.set(request, { call, request });
    response.setHeader("x-request-id", call.headers.requestId);
    // Clients do not cache gRPC responses.
    if (!options.grpc) response.setHeader("cache-control", "no-store");
    response.once("close", () => {
      call.code ??= sentCode(response);
      pipeline.finish(call, response.headersSent ? response.statusCode : 0);
    });
    adapter(request, response);
  };
}

/** Registers the RPC of a call. Resets a unary call if its caller stalls. */
function beginCall(context: HandlerContext, maxBytes = MAX_REQUEST_BYTES): void {
  const { call, request } = exchangeOf(context);
  call.method = `${context.service.typeName}/${context.method.name}`;
  if (context.method.methodKind === "unary") resetWhenIdle(request);
  const { signal } = context;
  const onAbort = () => {
    if (isGone(request)) call.code ??= Code.Canceled;
    if (signal.reason instanceof ConnectError) rephrase(signal.reason, context, call, maxBytes);
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort);
}

function createGate(rpc: AnyRpc, pipeline: Pipeline) {
  return async (context: HandlerContext): Promise<void> => {
    beginCall(context, rpc.maxRequestBytes);
    const { call, request } = exchangeOf(context);
    if (isStream(rpc)) resetWhenIdle(request);
    const timeoutMs = context.timeoutMs();
    call.deadlineMs = timeoutMs === undefined ? undefined : performance.now() + timeoutMs;
    try {
      await pipeline.admit(rpc, call);
      // The size of the request is known only after reading and decompressing.
      pipeline.reserveRequest(call, rpc.maxRequestBytes);
    } catch (error) {
      throw errorOf(pipeline.refuseCall(error, call), context);
    } finally {
      const limits = Object.entries(rateLimitHeaders(call.rateLimit));
      for (const [name, value] of limits) context.responseHeader.set(name, value);
      if (call.simulation) context.responseHeader.set("simulated", call.simulation.result);
    }
  };
}

function implementUnary(rpc: Rpc, pipeline: Pipeline) {
  return async (request: Message, context: HandlerContext) => {
    const exchange = exchangeOf(context);
    const { call } = exchange;
    const admitted = admittedOf(call);
    try {
      const response = await pipeline.execute(rpc, { request }, admitted);
      // Connect encodes the response for this call only and does not count its bytes.
      if (response instanceof DocumentResponse) {
        pipeline.reserveResponse(call, response.document.body.length);
      }
      call.code = 0;
      if (isAnswerLost(admitted)) throw loseAnswer(exchange);
      if (admitted.replayed) context.responseHeader.set("idempotency-replayed", "true");
      return messageOf(response);
    } catch (error) {
      if (error instanceof LostAnswer) throw error;
      throw errorOf(pipeline.refuseCall(error, call), context);
    }
  };
}

function implementStream(rpc: StreamRpc, pipeline: Pipeline) {
  return async function* (request: Message, context: HandlerContext) {
    const { signal } = context;
    const exchange = exchangeOf(context);
    const { call } = exchange;
    clearIdleTimeout(exchange.request);
    try {
      const messages = pipeline.executeStream(rpc, { request }, admittedOf(call), signal);
      if (isAnswerLost(admittedOf(call))) await loseFirst(messages, exchange);
      yield* messages;
      // Connect's timer can fire before the caller's timer. With an OK status, the stream would then look complete.
      if (isPastDeadline(signal)) throw deadlineError();
      call.code = signal.aborted ? Code.Canceled : 0;
    } catch (error) {
      if (error instanceof LostAnswer) throw error;
      throw errorOf(pipeline.refuseCall(error, call), context);
    }
  };
}

/** Thrown to drop the response for a simulated loss. */
class LostAnswer extends ConnectError {
  constructor() {
    super("the response was dropped, as requested by Simulate", Code.Canceled);
  }
}

function loseAnswer({ request }: Exchange): LostAnswer {
  if ("stream" in request) loseStreamAnswer(request.stream);
  else breakConnection(request.socket);
  return new LostAnswer();
}

/** Waits for the first message, then drops the response to a call. Returns normally if there is no message. */
async function loseFirst(messages: AsyncIterable<Message>, exchange: Exchange): Promise<never> {
  const iterator = messages[Symbol.asyncIterator]();
  await iterator.next();
  await iterator.return?.();
  throw loseAnswer(exchange);
}

function admittedOf({ admitted }: ReceivedCall): AnyCall {
  if (admitted === undefined) throw new Error("a call bypassed Connect's request gate");
  return admitted;
}

function exchangeOf(context: HandlerContext): Exchange {
  const exchange = context.values.get(exchangeKey);
  if (exchange === undefined) throw new Error("a call reached Connect without being received");
  return exchange;
}

/**
 * Replaces Connect's errors about unreadable requests with refusals and their details, because Connect reports some of
 * them as INTERNAL. Truncates quoted text in all other Connect errors. Connect aborts a call with its error immediately
 * before sending it, so the error can still be changed. Clients see `rawMessage`.
 */
function rephrase(error: ConnectError, context: HandlerContext, call: ReceivedCall, maxBytes: number): void {
  if (call.code !== undefined) return;
  nameCompressions(error, context);
  // Only errors that Connect itself raises have no details.
  const unreadable = error.details.length > 0 ? undefined : unreadableRequest(error, maxBytes);
  const refusal = unreadable && (malformedTimeoutError(context) ?? unreadable);
  if (refusal !== undefined) Object.assign(error, errorOf(refusal, context));
  else Object.assign(error, { rawMessage: truncateMessage(error.rawMessage) });
  call.code = error.code;
}

function errorOf(refusal: Refusal, { protocolName }: HandlerContext): ConnectError {
  return protocolName === "grpc" ? grpcError(refusal) : connectError(refusal);
}

/** Protocol names of the supported compressions. */
const ACCEPTED_COMPRESSIONS = ["grpc-accept-encoding", "connect-accept-encoding", "accept-encoding"];

/**
 * Adds the supported compressions to the response if a request uses an unknown compression. Connect attaches them to
 * its error but does not send them, because they are protocol headers.
 */
function nameCompressions({ metadata }: ConnectError, { responseHeader }: HandlerContext): void {
  for (const name of ACCEPTED_COMPRESSIONS) {
    const accepted = metadata.get(name);
    if (accepted !== null) responseHeader.set(name, accepted);
  }
}

function isGone(request: NodeRequest): boolean {
  return "stream" in request ? request.stream.closed : request.socket.destroyed;
}

/** Resets an HTTP/2 stream whose caller stalls in the middle of a request. */
function resetWhenIdle(request: NodeRequest): void {
  if (!("stream" in request)) return;
  const { stream } = request;
  stream.setTimeout(IDLE_STREAM_MS, () => stream.close(constants.NGHTTP2_CANCEL));
}

function clearIdleTimeout(request: NodeRequest): void {
  if ("stream" in request) request.stream.setTimeout(0);
}

/**
 * Returns the code of a response that Connect sent without the pipeline (unknown compression, wrong
 * content type), or the code for a caller that disconnected.
 */
function sentCode(response: NodeResponse): Code | 0 | undefined {
  if (!response.headersSent) return undefined;
  const status = response.getHeader("grpc-status");
  if (status !== undefined) return Number(status);
  if (!response.writableEnded) return Code.Canceled;
  return HTTP_STATUS_CODES[response.statusCode] ?? Code.Unknown;
}

/** gRPC codes for the HTTP statuses that Connect sends without the pipeline. */
const HTTP_STATUS_CODES: Readonly<Record<number, Code | 0>> = {
  200: 0,
  400: Code.InvalidArgument,
  404: Code.Unimplemented,
  405: Code.Unimplemented,
  408: Code.DeadlineExceeded,
  415: Code.InvalidArgument,
  429: Code.ResourceExhausted,
  499: Code.Canceled,
  501: Code.Unimplemented,
  503: Code.Unavailable,
  504: Code.DeadlineExceeded,
};
