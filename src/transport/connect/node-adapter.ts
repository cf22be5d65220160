import type { ContextValues, ConnectRouter } from "@connectrpc/connect";
import type { UniversalHandler, UniversalServerResponse } from "@connectrpc/connect/protocol";
import { universalRequestFromNodeRequest, universalResponseToNodeResponse } from "@connectrpc/connect-node";
import { nearestName } from "../../domain/nearest-name.ts";
import { refuse } from "../../domain/refusal.ts";
import { closeStreamAfterGrace, inChunks } from "../connections/write-response.ts";
import { isHost, splitUrl } from "./request-target.ts";
import { withKnownFlags } from "./frames.ts";
import type { NodeHandler, NodeRequest, NodeResponse } from "./connect-options.ts";
import { noSuchPath, refuseOutsideRpc } from "./refuse-outside-rpc.ts";
import { dropTimeoutBeyondTimers } from "./deadlines.ts";

/**
 * Serves a router's RPCs from Node's HTTP servers. Requests for unknown RPCs are refused.
 *
 * Connect's own adapter is unsuitable for three reasons:
 * - A `Host` or `:authority` that is not part of a valid URL makes it throw in the server's listener,
 *   which terminates the process.
 * - It sends no body for a wrong HTTP method or content type.
 * - It destroys a request that it refuses in the middle of the body. On HTTP/1.1 this also destroys the response.
 */
export function createNodeAdapter(
  router: ConnectRouter,
  contextValuesOf: (request: NodeRequest) => ContextValues,
): NodeHandler {
  const handlers = new Map(router.handlers.map((handler) => [handler.requestPath, handler]));
  return (request, response) => {
    discardAfterAnswer(request, response);
    const [path] = splitUrl(request);
    const handler = handlers.get(path);
    if (handler === undefined) {
      const nearest = nearestName(path, handlers.keys());
      return refuseOutsideRpc(request, response, noSuchPath("This RPC does not exist", nearest));
    }
    // The promise rejects if the caller disconnects.
    serve(handler, request, response, contextValuesOf(request)).catch(() => request.destroy());
  };
}

async function serve(
  handler: UniversalHandler,
  request: NodeRequest,
  response: NodeResponse,
  contextValues: ContextValues,
): Promise<void> {
  const universal = readRequest(request, response, contextValues);
  if (universal === undefined) {
    const text = "The Host header is missing or not valid.";
    refuseOutsideRpc(request, response, refuse("REQUEST_MALFORMED", text));
    return;
  }
  dropTimeoutBeyondTimers(universal.header);
  const universalResponse = await handler(universal);
  if (universalResponse.body === undefined) refuseProtocol(universalResponse, request, response, handler);
  else {
    const body = inChunks(universalResponse.body);
    await universalResponseToNodeResponse({ ...universalResponse, body }, response);
  }
}

function readRequest(request: NodeRequest, response: NodeResponse, contextValues: ContextValues) {
  if (!isHost(hostOf(request))) return undefined;
  try {
    // A refusal in the middle of the body must not destroy the request, because this would also destroy the response.
    const body = request.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>;
    return {
      ...universalRequestFromNodeRequest(request, response, undefined, contextValues),
      // Makes Connect serve reflection, a bidirectional stream, on HTTP/1.1 too. This works, because Node can respond
      // during the request.
      httpVersion: "2.0",
      body: isGrpc(request) ? withKnownFlags(body) : body,
    };
  } catch {
    return undefined;
  }
}

function hostOf(request: NodeRequest): string | undefined {
  return ("authority" in request ? request.authority : undefined) || request.headers.host;
}

function isGrpc({ headers }: NodeRequest): boolean {
  return headers["content-type"]?.startsWith("application/grpc") ?? false;
}

/**
 * Discards the remaining body after the response, because a stream with unread data never closes. Closes an HTTP/2
 * stream after a short time if its caller stalls.
 */
function discardAfterAnswer(request: NodeRequest, response: NodeResponse): void {
  const stream = "stream" in request ? request.stream : undefined;
  (stream ?? response).once("finish", () => {
    if (request.complete) return;
    request.resume();
    if (stream !== undefined) closeStreamAfterGrace(stream);
  });
}

/** Adds an explanation to a status without a body, which Connect sends if it finds no protocol for the request. */
function refuseProtocol(
  { status }: UniversalServerResponse,
  request: NodeRequest,
  response: NodeResponse,
  { allowedMethods }: UniversalHandler,
): void {
  if (status === 405) {
    const allow = allowedMethods.toSorted().join(", ");
    const text = `This path does not support that method. It supports ${allow}.`;
    refuseOutsideRpc(request, response, refuse("METHOD_NOT_ALLOWED", text), { allow });
  } else {
    const text = "The content type must be one of gRPC, gRPC-Web or Connect.";
    refuseOutsideRpc(request, response, refuse("BODY_NOT_JSON", text, { subject: "body" }));
  }
}
