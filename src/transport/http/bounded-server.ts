import { createServer, ServerResponse, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { readCallHeaders } from "../../pipeline/call-headers.ts";
import { refuse, type Refusal } from "../../domain/refusal.ts";
import type { ConnectionCalls } from "../connections/connection-calls.ts";
import { CONNECTIONS, type ConnectionLimits } from "../../pipeline/bounds/limits.ts";
import { createConnections } from "../connections/connections.ts";
import {
  closeServer,
  listen,
  stopListening,
  type TransportServer,
} from "../connections/transport-server.ts";
import { hostError } from "../connect/request-target.ts";
import { refuseHttp2, refuseSocket } from "../connect/refuse-socket.ts";
import { sendRefusal } from "./responses.ts";

/** Answers a request; its target is a path, whatever form it was sent in. */
export type Serve = (
  request: IncomingMessage,
  response: ServerResponse,
  calls: ConnectionCalls,
) => void;

const LIMITS = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 1_000,
  // Node's own refusal has no body; `handle` refuses instead.
  requireHostHeader: false,
} as const;
const MAX_HEADERS = 100;

export interface BoundedServerOptions {
  readonly limits?: Partial<ConnectionLimits> | undefined;
  readonly isHttps?: boolean;
}

/**
 * Opens an HTTP/1.1 server whose connections are bounded; it does not listen yet. What is not a valid
 * request is refused here, and `serve` answers the rest.
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
      return sendRefusal(response, readCallHeaders(request.rawHeaders).requestId, refusal, [
        "connection",
        "close",
      ]);
    }
    request.url = originForm(request.url ?? "");
    serve(request, response, calls);
  };

  const connections = createConnections(
    { ...CONNECTIONS, maxServed: CONNECTIONS.maxServedOfHttp1, ...limits },
    {
      // Node itself answers those that bring no request.
      closeSilent: () => undefined,
      // Not the response, which has no socket before it is its turn in a pipeline.
      cutResponse: (response) => (response as ServerResponse).req.socket.destroy(),
      // In a pipeline it waits for those before it.
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
  // An Expect header that asks for something else than 100-continue counts for nothing.
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

/** A target as a proxy is sent it, `http://host/path`, means its path (RFC 9112, section 3.2.2). */
function originForm(url: string): string {
  return url.startsWith("/") ? url : url.replace(/^https?:\/\/[^/?]*/i, "");
}

/** What Node's parser says of requests it cannot hand over, as refusals. */
const BROKEN_REQUESTS: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: refuse("HEADERS_TOO_LARGE"),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: refuse("BODY_TOO_LARGE", "The chunk extensions are too large."),
  ERR_HTTP_REQUEST_TIMEOUT: refuse("REQUEST_TIMEOUT"),
};
const NOT_HTTP = refuse("REQUEST_MALFORMED", "The request is not valid HTTP.");

/** Refuses, in the usual form, what is not HTTP enough to become a request. */
function refuseBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  // What still comes of a request that was refused is no reason to cut the refusal short.
  if (socket.writableEnded && error.code !== "ECONNRESET") return;
  if (!socket.writable || error.code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  if (error.code === "HPE_PAUSED_H2_UPGRADE") return refuseHttp2(socket);
  refuseSocket(socket, BROKEN_REQUESTS[error.code ?? ""] ?? NOT_HTTP);
}

/** Browsers take the type of a response as it is told them, and run nothing that only looks like a script. */
const NOSNIFF = ["x-content-type-options", "nosniff"];

/** For a year, browsers that were here by https come by nothing else (RFC 6797). */
const HSTS = ["strict-transport-security", "max-age=31536000"];

/** Tells a caller to send its next request on another connection, which reaches another process. */
const GO_ELSEWHERE = ["connection", "close"];

type WriteHead = (status: number, headers?: readonly string[]) => ServerResponse;

/**
 * Builds the class of a server's responses, which adds to each what browsers are to keep to. It stands below
 * all that answer, so that nobody forgets it.
 */
export function createResponseClass(
  isHttps: boolean,
  isDraining: () => boolean,
): typeof ServerResponse {
  const usual = isHttps ? [...NOSNIFF, ...HSTS] : NOSNIFF;
  const last = [...usual, ...GO_ELSEWHERE];
  return class Response<R extends IncomingMessage> extends ServerResponse<R> {
    override writeHead(status: number, ...rest: unknown[]): this {
      const given = rest.at(-1);
      const always = isDraining() ? last : usual;
      // Beside headers in a list, those that were set one by one would cost a quote some microseconds.
      if (Array.isArray(given)) {
        (super.writeHead as WriteHead)(status, [...(given as string[]), ...always]);
        return this;
      }
      for (let i = 0; i < always.length; i += 2) this.setHeader(always[i]!, always[i + 1]!);
      return super.writeHead(status, ...(rest as []));
    }
  };
}
