import { Code } from "@connectrpc/connect";
import type { RpcHandler } from "./connect-handler.ts";

const MESSAGE = "There is no such RPC.";

/**
 * Answers a request for an RPC that there is not: in gRPC's form to a gRPC caller, else as JSON
 * with 404.
 */
export const answerUnknownRpc: RpcHandler = (request, response) => {
  const contentType = request.headers["content-type"];
  if (contentType?.startsWith("application/grpc")) {
    response.writeHead(200, {
      "content-type": contentType,
      "grpc-status": String(Code.Unimplemented),
      "grpc-message": MESSAGE,
    });
    response.end();
    return;
  }
  response.writeHead(404, { "content-type": "application/json" });
  response.end(JSON.stringify({ message: MESSAGE, errors: {} }));
};
