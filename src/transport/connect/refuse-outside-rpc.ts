import type { Code } from "@connectrpc/connect";
import type { Refusal } from "../../domain/refusal.ts";
import { errorBody } from "../../pipeline/error-body.ts";
import type { NodeRequest, NodeResponse } from "./node-adapter.ts";
import { REFUSAL_STATUS } from "../../pipeline/refusal-status.ts";

/**
 * Refuses a request that leads into no RPC, so that no protocol of an RPC speaks for it: in gRPC's
 * form to a gRPC caller, else as JSON with the same body as the JSON door's.
 */
export function refuseOutsideRpc(
  request: NodeRequest,
  response: NodeResponse,
  refusal: Refusal,
  headers: Readonly<Record<string, string>> = {},
): void {
  const { code, httpStatus } = REFUSAL_STATUS[refusal.reason];
  const contentType = request.headers["content-type"];
  if (request.method === "POST" && contentType?.startsWith("application/grpc")) {
    answerGrpc(response, contentType, code, refusal.message);
  } else {
    const body = JSON.stringify(errorBody(refusal));
    response.writeHead(httpStatus, { ...headers, "content-type": "application/json" });
    response.end(body);
  }
}

/** An answer that is only trailers, which travel as headers (the gRPC protocol over HTTP/2). */
function answerGrpc(
  response: NodeResponse,
  contentType: string,
  code: Code,
  message: string,
): void {
  response.writeHead(200, {
    "content-type": contentType,
    "grpc-status": String(code),
    "grpc-message": encodeURIComponent(message),
  });
  response.end();
}
