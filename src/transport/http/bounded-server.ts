import { createServer, ServerResponse, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { readCallHeaders } from "../../pipeline/call-headers.ts";
import { refuse, type Refusal } from "../../domain/refusal.ts";
import type { ConnectionCalls } from "../connections/connection-calls.ts";
import { CONNECTIONS, type ConnectionLimits } from "../../pipeline/bounds/limits.ts";
import { createConnections } from "../connections/connections.ts";
import { closeServer, listen, stopListening, type TransportServer } from "../connections/transport-server.ts";
import { hostError } from "../connect/request-target.ts";
import { refuseHttp2, refuseSocket } from "../connect/refuse-socket.ts";
import { sendRefusal } from "./responses.ts";

/** Serves a request. The target is always a path, even if the request line contains a full URL. */
export type Serve = (request: IncomingMessage, response: ServerResponse, calls: ConnectionCalls) => void;

const LIMITS = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 1_000,
  // Node's refusal has no body, so `handle` refuses requests without a host instead.
  requireHostHeader: false,
} as const;
const MAX_HEADERS = 100;

export interface BoundedServerOptions {
  readonly limits?: Partial<ConnectionLimits> | undefined;
  readonly isHttps?: boolean;
}

/**
 * Creates an HTTP/1.1 server with limits on its connections, without listening. Refuses invalid
 * requests and passes the others to `serve`.
 */
export function createBoundedServer(
  serve: Serve,
  { limits, isHttps = false }: BoundedServerOptions = {},
): TransportServer {
  let isDraining = false;

  const handle: Serve = (request, response, calls) => {
    const error = hostError(request);
    if (error !== undefined) {
      const refusal = refuse("REQUEST_MALFORMED", error);
      return sendRefusal(response, readCallHeaders(request.rawHeaders).requestId, refusal, ["connection", "close"]);
    }
    request.url = originForm(request.url ?? "");
    serve(request, response, calls);
  };

  const connections = createConnections(
    { ...CONNECTIONS, maxServed: CONNECTIONS.maxServedOfHttp1, ...limits },
    {
      // Node responds to connections that send no request.
      closeSilent: () => undefined,
      // The request's socket is destroyed, because a pipelined response has no socket before its turn.
      cutResponse: (response) => (response as ServerResponse).req.socket.destroy(),
      // A pipelined response may wait indefinitely for earlier responses.
      responseStallMs: Infinity,
    },
  );

  function take(request: IncomingMessage, response: ServerResponse): void {
    const calls = connections.callsOf(request.socket);
    if (calls === undefined) return void request.socket.destroy();
    response.on("close", () => calls.end(response));
    if (calls.begin(response)) handle(request, response, calls);
    else if (!calls.wait(response, () => handle(request, response, calls))) {
      request.socket.destroy();
    }
  }

  const Response = createResponseClass(isHttps, () => isDraining);
  const server = createServer({ ...LIMITS, ServerResponse: Response }, take);
  server.maxHeadersCount = MAX_HEADERS;
  server.on("connection", connections.add);
  server.on("clientError", refuseBrokenRequest);
  // Requests with an unknown `Expect` header are served normally.
  server.on("checkExpectation", take);

  return {
    async listen(at) {
      const address = await listen(server, at);
      connections.start();
      return address;
    },
    async drain() {
      await stopListening(server);
      isDraining = true;
    },
    async close(graceMs) {
      isDraining = true;
      await closeServer(server, graceMs, () => server.closeAllConnections());
      connections.stop();
    },
    openCalls: connections.openCalls,
    openConnections: connections.count,
  };
}

/**
 * Returns the path of a request target. Proxies receive the absolute form `http://host/path`, which is equivalent to
 * its path (RFC 9112, 3.2.2).
 */
function originForm(url: string): string {
  return url.startsWith("/") ? url : url.replace(/^https?:\/\/[^/?]*/i, "");
}

/** Refusals for errors of Node's HTTP parser. */
const BROKEN_REQUESTS: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: refuse("HEADERS_TOO_LARGE"),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: refuse("BODY_TOO_LARGE", "The chunk extensions are too large."),
  ERR_HTTP_REQUEST_TIMEOUT: refuse("REQUEST_TIMEOUT"),
};
const NOT_HTTP = refuse("REQUEST_MALFORMED", "The request is not valid HTTP.");

/** Sends a JSON refusal for malformed HTTP. */
function refuseBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  // Further data of a refused request is ignored, so that it does not truncate the refusal.
  if (socket.writableEnded && error.code !== "ECONNRESET") return;
  if (!socket.writable || error.code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  if (error.code === "HPE_PAUSED_H2_UPGRADE") return refuseHttp2(socket);
  refuseSocket(socket, BROKEN_REQUESTS[error.code ?? ""] ?? NOT_HTTP);
}

/** Prevents browsers from sniffing the content type and running data as scripts. */
const NOSNIFF = ["x-content-type-options", "nosniff"];

/** Makes browsers use only https for a year after an https visit (RFC 6797). */
const HSTS = ["strict-transport-security", "max-age=31536000"];

/** Makes callers send the next request on a new connection, which another process accepts. */
const CLOSE_HEADER = ["connection", "close"];

type WriteHead = (status: number, headers?: readonly string[]) => ServerResponse;

/** Creates a server's response class, which adds security headers to every response. */
function createResponseClass(isHttps: boolean, isDraining: () => boolean): typeof ServerResponse {
  const usual = isHttps ? [...NOSNIFF, ...HSTS] : NOSNIFF;
  const last = [...usual, ...CLOSE_HEADER];
  return class Response<R extends IncomingMessage> extends ServerResponse<R> {
    override writeHead(status: number, ...rest: unknown[]): this {
      const onListening = rest.at(-1);
      const always = isDraining() ? last : usual;
      // Mixing a header list with separately set headers would slow down a quote by some microseconds.
      if (Array.isArray(onListening)) {
        (super.writeHead as WriteHead)(status, [...(onListening as string[]), ...always]);
        return this;
      }
      for (let i = 0; i < always.length; i += 2) this.setHeader(always[i]!, always[i + 1]!);
      return super.writeHead(status, ...(rest as []));
    }
  };
}
