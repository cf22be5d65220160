import { readCallHeaders } from "../../pipeline/call-headers.ts";
import type { RpcHandler } from "../connect/connect-options.ts";
import type { TransportServer } from "../connections/transport-server.ts";
import { createBoundedServer, type BoundedServerOptions } from "./bounded-server.ts";
import type { JsonGateway } from "./json-gateway.ts";
import type { HttpHandler } from "./responses.ts";

/** Creates an HTTP/1.1 server without listening. Paths below one of `serviceNames` are RPCs. */
export function createHttpServer(
  options: BoundedServerOptions & {
    readonly serviceNames: readonly string[];
    readonly handleRpc: RpcHandler;
    /** Handlers of requests outside the API. The first matching handler serves the request. */
    readonly handlers: readonly HttpHandler[];
    readonly gateway: JsonGateway;
  },
): TransportServer {
  const { handleRpc, handlers, gateway } = options;
  const rpcPrefixes = options.serviceNames.map((name) => `/${name}/`);
  return createBoundedServer((request, response, calls) => {
    const url = request.url ?? "";
    if (url.startsWith("/v1/")) return gateway(request, response, calls);
    if (rpcPrefixes.some((prefix) => url.startsWith(prefix))) return handleRpc(request, response);
    const { requestId } = readCallHeaders(request.rawHeaders);
    if (handlers.some((handle) => handle(request, response, requestId))) return;
    gateway(request, response, calls);
  }, options);
}
