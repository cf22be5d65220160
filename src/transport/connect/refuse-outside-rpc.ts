import { setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import { refuse, type Refusal } from "../../domain/refusal.ts";
import { errorBody } from "../../pipeline/refusals/refusal-body.ts";
import { REASONS } from "../../domain/refusal-reasons.ts";
import { grpcError } from "./connect-error.ts";
import type { NodeRequest, NodeResponse } from "./connect-options.ts";

/** The refusal of a path that leads nowhere, with the one that may be meant. */
export function noSuchPath(text: string, nearest: string | undefined): Refusal {
  const hint = nearest === undefined ? "." : `; did you mean ${nearest}?`;
  return refuse("NO_SUCH_METHOD", text + hint);
}

/**
 * Refuses a request that leads into no RPC, so that no protocol of an RPC speaks for it: in gRPC's
 * form to a gRPC caller, else as JSON with the same body as the JSON gateway's.
 */
export function refuseOutsideRpc(
  request: NodeRequest,
  response: NodeResponse,
  refusal: Refusal,
  headers: Readonly<Record<string, string>> = {},
): void {
  // Node resets an HTTP/2 stream that has been answered while nobody reads what it brings.
  request.resume();
  const contentType = request.headers["content-type"];
  if (request.method === "POST" && contentType?.startsWith("application/grpc")) {
    answerGrpc(response, contentType, refusal);
  } else {
    const body = JSON.stringify(errorBody(refusal, String(response.getHeader("x-request-id"))));
    const { httpStatus } = REASONS[refusal.reason];
    response.writeHead(httpStatus, { ...headers, "content-type": "application/json" });
    response.end(body);
  }
}

/** The content types of gRPC and gRPC-Web with the messages there are, without parameters. */
const GRPC_CONTENT_TYPE = /^application\/grpc(?:-web(?:-text)?)?(?:\+(?:proto|json))?/i;

/**
 * An answer that is only trailers: one block of headers that ends the stream ("Trailers-Only" of the
 * gRPC protocol over HTTP/2). Node's response would end it with an empty DATA frame of its own,
 * after which clients look for the status in trailers that do not come.
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
