import { setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import { refuse, type Refusal } from "../../domain/refusal.ts";
import { refusalBody } from "../../pipeline/refusals/refusal-body.ts";
import { REASONS } from "../../domain/refusal-reasons.ts";
import { grpcError } from "./connect-error.ts";
import type { NodeRequest, NodeResponse } from "./connect-options.ts";

/** Returns the refusal of an unknown path. Suggests the nearest known path. */
export function noSuchPath(text: string, nearest: string | undefined): Refusal {
  const hint = nearest === undefined ? "." : `. Did you mean ${nearest}?`;
  return refuse("NO_SUCH_METHOD", text + hint);
}

/**
 * Refuses a request that matches no RPC. The refusal is in gRPC form for gRPC callers, and otherwise
 * JSON as in the JSON API.
 */
export function refuseOutsideRpc(
  request: NodeRequest,
  response: NodeResponse,
  refusal: Refusal,
  headers: Readonly<Record<string, string>> = {},
): void {
  // Node resets a completed HTTP/2 stream if its request body was not read.
  request.resume();
  const contentType = request.headers["content-type"];
  if (request.method === "POST" && contentType?.startsWith("application/grpc")) {
    answerGrpc(response, contentType, refusal);
  } else {
    const body = JSON.stringify(refusalBody(refusal, String(response.getHeader("x-request-id"))));
    const { httpStatus } = REASONS[refusal.reason];
    response.writeHead(httpStatus, { ...headers, "content-type": "application/json" });
    response.end(body);
  }
}

/** Matches content types of gRPC and gRPC-Web, without parameters. */
const GRPC_CONTENT_TYPE = /^application\/grpc(?:-web(?:-text)?)?(?:\+(?:proto|json))?/i;

/**
 * Sends a trailers-only response: one header block that ends the stream ("Trailers-Only" in the gRPC protocol over
 * HTTP/2). Node's response API would add an empty DATA frame, after which clients would expect trailers.
 */
function answerGrpc(response: NodeResponse, contentType: string, refusal: Refusal): void {
  const trailers = setTrailerStatus(new Headers(), grpcError(refusal));
  const known = GRPC_CONTENT_TYPE.exec(contentType)?.[0] ?? "application/grpc";
  response.setHeader("content-type", known);
  for (const [name, value] of trailers) response.setHeader(name, value);
  if ("stream" in response) {
    response.stream.respond({ ":status": 200, ...response.getHeaders() }, { endStream: true });
  } else {
    response.end();
  }
}
