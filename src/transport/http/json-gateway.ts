import type { IncomingMessage, ServerResponse } from "node:http";
import type { Refusal } from "../../domain/refusal.ts";
import { DocumentResponse, LazyResponse } from "../../pipeline/rpc-response.ts";
import type { ReceivedCall } from "../../pipeline/call.ts";
import type { Pipeline } from "../../pipeline/stages/pipeline.ts";
import { rateLimitHeaders } from "../../pipeline/bounds/rate-limiter.ts";
import { isStream, type Rpc, type StreamRpc } from "../../pipeline/rpc.ts";
import type { ConnectionCalls } from "../connections/connection-calls.ts";
import { breakConnection, sendInChunks } from "../connections/write-response.ts";
import type { UnaryExchange } from "../../pipeline/stages/serve-unary.ts";
import { isAnswerLost } from "../../pipeline/stages/simulate.ts";
import { noSuchPath } from "../connect/refuse-outside-rpc.ts";
import { splitUrl } from "../connect/request-target.ts";
import { sendPage } from "./browser-page.ts";
import { prefersPage } from "./negotiation.ts";
import { encodeDocument } from "./document-response.ts";
import { compileJsonRoute, decodeRequest, parametersOf, type JsonRoute, type Parameters } from "./json-route.ts";
import { readBody } from "./read-body.ts";
import { compileRoutes, createNearestPath, readRoutes } from "./routes.ts";
import { serveFile } from "./send-file.ts";
import { describeRefusal, headerList, methodNotAllowed, sendJsonText } from "./responses.ts";

/** Serves one request of the JSON API. `calls` are the calls of the request's connection. */
export type JsonGateway = (request: IncomingMessage, response: ServerResponse, calls: ConnectionCalls) => void;

/** Alternating header names and values. */
type HeaderList = readonly string[];

const NO_HEADERS: HeaderList = [];
/** Matches an API key of a workspace or an operator. */
const KEY_IN_QUERY = /\bsh[po]_\w/;
const REPLAYED: HeaderList = ["idempotency-replayed", "true"];

/**
 * Creates the JSON API from the descriptors. Every RPC with a `google.api.http` option is served on its
 * path, in the JSON dialect of `/v1`, through the same pipeline as gRPC.
 *
 * @param documents paths of public documents, which refusals of unknown paths may suggest
 */
export function createJsonGateway(
  rpcs: readonly (Rpc | StreamRpc)[],
  pipeline: Pipeline,
  documents?: () => readonly string[],
): JsonGateway {
  const routes = readRoutes(rpcs).map(compileJsonRoute);
  const match = compileRoutes(routes);
  const nearestPath = createNearestPath(routes, documents);

  return (request, response, calls) => {
    const call = pipeline.receive(request.rawHeaders, request.socket);
    response.on("close", () => pipeline.finish(call, sentStatus(response)));
    const [path, query] = splitUrl(request);
    const method = request.method ?? "";
    call.path = path;
    call.hasKeyInQuery = KEY_IN_QUERY.test(query);
    const found = match(method, path);
    const template = found.kind === "found" ? found.route.template : undefined;
    call.span?.setHttpRequest(method, path, template);
    if (found.kind === "found") {
      const { route, pathSegments } = found;
      const { rpc } = route;
      call.method = rpc.name;
      const parameters = parametersOf(route, pathSegments, query);
      const exchange = exchangeOf({ request, response, call, calls, route, parameters, pipeline });
      if (isStream(rpc)) void serveFile(rpc, exchange, { call, response, pipeline, headersOf });
      else pipeline.serveUnary(rpc, call, exchange);
    } else if (found.kind === "method-not-allowed") {
      const refusal = pipeline.refuseCall(methodNotAllowed(found.allow), call);
      sendRefusal({ response, call, calls, pipeline }, refusal, ["allow", found.allow]);
    } else {
      const refusal = pipeline.refuseCall(noSuchPath("This path does not exist", nearestPath(path)), call);
      if (!prefersPage(request)) sendRefusal({ response, call, calls, pipeline }, refusal);
      else pipeline.respond(() => sendPage(response, "nothing", call.headers.requestId));
    }
  };
}

interface ResponseTarget {
  readonly response: ServerResponse;
  readonly call: ReceivedCall;
  readonly calls: ConnectionCalls;
  readonly pipeline: Pipeline;
}

function exchangeOf(
  options: ResponseTarget & {
    readonly request: IncomingMessage;
    readonly route: JsonRoute;
    readonly parameters: Parameters;
  },
): UnaryExchange {
  const { request, response, call, route, parameters, pipeline } = options;
  let handling = NO_HEADERS;
  return {
    read: (received, failed) =>
      readBody(
        request,
        call.headers,
        {
          maxBytes: route.rpc.maxRequestBytes,
          reserve: (bytes) => pipeline.reserveRequest(call, bytes),
        },
        (body) =>
          received(() => {
            const decoded = decodeRequest(route, body, call.headers, parameters);
            handling = decoded.handling;
            return decoded;
          }),
        failed,
      ),
    isGone: () => response.destroyed,
    respond(rpcResponse, admitted) {
      if (isAnswerLost(admitted)) return breakConnection(request.socket);
      const headers = headersOf(call);
      if (admitted.replayed) headers.push(...REPLAYED);
      headers.push(...handling);
      if (rpcResponse instanceof DocumentResponse) {
        return sendDocument(options, rpcResponse, route.successStatus, headers);
      }
      const json = rpcResponse instanceof LazyResponse ? rpcResponse.json() : route.encodeJson(rpcResponse);
      send(options, route.successStatus, json, headers);
    },
    refuse: (refusal) => sendRefusal(options, refusal, [...headersOf(call), ...handling]),
  };
}

/** Returns the headers for every response to a rate-limited call. */
function headersOf({ rateLimit, simulation }: ReceivedCall): string[] {
  const headers = headerList(rateLimitHeaders(rateLimit));
  if (simulation !== undefined) headers.push("simulated", simulation.result);
  return headers;
}

function sendRefusal(target: ResponseTarget, refusal: Refusal, extra: HeaderList = NO_HEADERS): void {
  const { status, body, headers } = describeRefusal(refusal, target.call.headers.requestId, extra);
  send(target, status, body, headers);
}

function send(
  { response, call, calls, pipeline }: ResponseTarget,
  status: number,
  body: unknown,
  headers: HeaderList,
): void {
  const text = JSON.stringify(body);
  pipeline.respond(() => {
    if (!calls.send(response, text.length)) return void response.req.socket.destroy();
    sendJsonText(response, status, call.headers.requestId, text, headers);
  });
}

async function sendDocument(
  { response, call, calls, pipeline }: ResponseTarget,
  document: DocumentResponse,
  status: number,
  headers: HeaderList,
): Promise<void> {
  const encoded = await encodeDocument(document, response.req.headers);
  const { body } = encoded;
  const all = ["x-request-id", call.headers.requestId, ...headers, ...encoded.headers];
  if (body !== undefined) all.push("content-length", String(body.length));
  pipeline.respond(() => {
    if (response.headersSent || response.destroyed) return;
    if (!calls.send(response, body?.length ?? 0)) return void response.req.socket.destroy();
    response.writeHead(body === undefined ? 304 : status, all);
    sendInChunks(response, body, calls);
  });
}

function sentStatus(response: ServerResponse): number {
  return response.headersSent ? response.statusCode : 0;
}
