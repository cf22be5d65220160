import { constants } from "node:http2";
import type { DescMethod, DescService, Message } from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  createConnectRouter,
  createContextKey,
  createContextValues,
  type ConnectRouter,
  type HandlerContext,
  type ServiceImpl,
} from "@connectrpc/connect";
import { readCallHeaders, type CallHeaders } from "../../pipeline/call-headers.ts";
import type { Call } from "../../pipeline/call.ts";
import type { Pipeline } from "../../pipeline/pipeline.ts";
import {
  createNodeAdapter,
  type NodeRequest,
  type NodeResponse,
  type RpcHandler,
} from "./node-adapter.ts";
import type { Exchange, Observer } from "../../pipeline/observe.ts";
import { rateLimitHeaders } from "../../pipeline/rate-limit-headers.ts";
import { connectError } from "./connect-error.ts";
import { REFUSAL_STATUS } from "../../pipeline/refusal-status.ts";
import type { Rpc, StreamRpc } from "../../pipeline/rpc.ts";
import { unreadable } from "./unreadable-request.ts";
import { IDLE_STREAM_MS, WIRE } from "./wire.ts";

/** What is kept of one request while Connect handles it. */
interface Entry {
  readonly headers: CallHeaders;
  readonly exchange: Exchange;
  readonly keepAlive: () => void;
  call?: Call;
  context?: HandlerContext;
}

const entryKey = createContextKey<Entry | undefined>(undefined);

/**
 * Serves the RPCs by Connect, gRPC-Web and, on HTTP/2, gRPC. Credentials are checked in the request
 * gate, before the body is read; then the call goes through the pipeline. `addServices` registers
 * what needs no credential (health, reflection). Requests for no known RPC go to `fallback`.
 */
export function createRpcHandler(options: {
  readonly rpcs: readonly Rpc[];
  readonly streams: readonly StreamRpc[];
  readonly pipeline: Pipeline;
  readonly observer: Observer;
  readonly addServices: (router: ConnectRouter) => void;
  readonly fallback: RpcHandler;
  readonly grpc: boolean;
  readonly shutdownSignal: AbortSignal;
}): RpcHandler {
  const { pipeline, observer, fallback } = options;
  const entries = new WeakMap<NodeRequest, Entry>();

  const router = createConnectRouter({
    grpc: options.grpc,
    ...WIRE,
    shutdownSignal: options.shutdownSignal,
    requestGate: (context) => void name(context),
  });
  const all: readonly AnyRpc[] = [...options.rpcs, ...options.streams];
  for (const [service, rpcs] of byService(all)) {
    router.service(service, implement(rpcs, pipeline), { requestGate: admit });
  }
  options.addServices(router);
  const contextValuesOf = (request: NodeRequest) =>
    createContextValues().set(entryKey, entries.get(request));
  const adapter = createNodeAdapter(router, contextValuesOf, fallback);

  /** Notes which RPC was called. */
  function name(context: HandlerContext): Entry {
    const entry = entryOf(context);
    entry.context = context;
    entry.exchange.rpc = `${context.service.typeName}/${context.method.name}`;
    if (context.method.methodKind !== "unary") entry.keepAlive();
    context.signal.addEventListener("abort", () => rephrase(context.signal.reason, entry));
    return entry;
  }

  const rpcByMethod = new Map(all.map((rpc) => [rpc.method as DescMethod, rpc]));
  function rpcOf({ method }: HandlerContext): AnyRpc {
    const rpc = rpcByMethod.get(method);
    if (rpc === undefined) throw new Error(`${method.name} is not among the RPCs`);
    return rpc;
  }

  async function admit(context: HandlerContext): Promise<void> {
    const entry = name(context);
    try {
      const headers = { ...entry.headers, timeoutMs: context.timeoutMs() };
      entry.call = await pipeline.admit(rpcOf(context), headers);
      const limits = rateLimitHeaders(entry.call.rateLimit);
      for (const [name, value] of Object.entries(limits)) context.responseHeader.set(name, value);
      entry.exchange.workspaceId = entry.call.caller.workspaceId;
    } catch (error) {
      throw refused(error, entry, pipeline);
    }
  }

  return (request, response) => {
    const headers = readCallHeaders(request.rawHeaders);
    const exchange = observer.begin(headers.requestId);
    entries.set(request, { headers, exchange, keepAlive: resetWhenIdle(request) });
    response.setHeader("x-request-id", headers.requestId);
    response.once("close", () => {
      exchange.code ??= codeOnTheWire(entries.get(request), response);
      observer.end(exchange, response.headersSent ? response.statusCode : 0);
    });
    adapter(request, response);
  };
}

type AnyRpc = Rpc | StreamRpc;

function byService(rpcs: readonly AnyRpc[]): Map<DescService, AnyRpc[]> {
  return Map.groupBy(rpcs, (rpc) => rpc.method.parent);
}

function implement(rpcs: readonly AnyRpc[], pipeline: Pipeline) {
  const functions = Object.fromEntries(
    rpcs.map((rpc) => [
      rpc.method.localName,
      isStream(rpc) ? implementStream(rpc, pipeline) : implementUnary(rpc, pipeline),
    ]),
  );
  return functions as unknown as Partial<ServiceImpl<DescService>>;
}

function isStream(rpc: AnyRpc): rpc is StreamRpc {
  return rpc.method.methodKind === "server_streaming";
}

function implementUnary(rpc: Rpc, pipeline: Pipeline) {
  return async (request: Message, context: HandlerContext) => {
    const entry = entryOf(context);
    try {
      const response = await pipeline.perform(rpc, request, entry.call as Call);
      entry.exchange.code = 0;
      if (entry.call?.replayed) context.responseHeader.set("idempotency-replayed", "true");
      return response;
    } catch (error) {
      throw refused(error, entry, pipeline);
    }
  };
}

function implementStream(rpc: StreamRpc, pipeline: Pipeline) {
  return async function* (request: Message, context: HandlerContext) {
    const entry = entryOf(context);
    const { call, headers } = entry;
    try {
      yield* pipeline.follow(rpc, request, call as Call, headers, context.signal);
      entry.exchange.code = 0;
    } catch (error) {
      throw refused(error, entry, pipeline);
    }
  };
}

function entryOf(context: HandlerContext): Entry {
  const entry = context.values.get(entryKey);
  if (entry === undefined) throw new Error("a call reached Connect without being received");
  return entry;
}

function refused(error: unknown, entry: Entry, pipeline: Pipeline) {
  const refusal = pipeline.refusalFor(error, entry.headers.requestId);
  entry.exchange.code = REFUSAL_STATUS[refusal.reason].code;
  return connectError(refusal);
}

/**
 * Says in our words, and with details, what Connect says of a message that it cannot read, part of
 * which it calls INTERNAL. It aborts a call with such an error just before it sends it, and that is
 * the moment to change it.
 */
function rephrase(error: unknown, { exchange }: Entry): void {
  if (!(error instanceof ConnectError) || exchange.code !== undefined) return;
  const refusal = unreadable(error);
  if (refusal === undefined) return;
  exchange.code = REFUSAL_STATUS[refusal.reason].code;
  Object.assign(error, connectError(refusal));
}

/**
 * Resets an HTTP/2 stream whose caller stops in the middle of a call; gives the way to call that
 * off.
 */
function resetWhenIdle(request: NodeRequest): () => void {
  if (!("stream" in request)) return () => undefined;
  const { stream } = request;
  stream.setTimeout(IDLE_STREAM_MS, () => stream.close(constants.NGHTTP2_CANCEL));
  return () => stream.setTimeout(0);
}

/** The code of a call that Connect itself refused (a body too large, an unknown compression). */
function codeOnTheWire(entry: Entry | undefined, response: NodeResponse): Code | 0 | undefined {
  if (!response.headersSent) return undefined;
  const status =
    entry?.context?.responseTrailer.get("grpc-status") ?? response.getHeader("grpc-status");
  if (status !== undefined) return Number(status);
  return HTTP_STATUS_CODES[response.statusCode] ?? Code.Unknown;
}

/** The codes behind the HTTP statuses that Connect answers by itself. */
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
