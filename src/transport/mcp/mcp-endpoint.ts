import type { IncomingMessage, ServerResponse } from "node:http";
import { MAX_REQUEST_BYTES } from "../../domain/limits.ts";
import { loadOnce } from "../../domain/load-once.ts";
import { type Limiter, rateLimitHeaders } from "../../pipeline/bounds/rate-limiter.ts";
import { readCallHeaders, type CallHeaders } from "../../pipeline/call-headers.ts";
import { receiveCall, type WorkspaceCaller } from "../../pipeline/call.ts";
import type { ClientAddress } from "../../pipeline/client-address.ts";
import { assertNotSuspended } from "../../pipeline/credentials/assert-may-call.ts";
import { carriesKey, credentialError } from "../../pipeline/credentials/read-key.ts";
import { assertSameSite } from "../../pipeline/credentials/session-cookie.ts";
import { rateLimitError } from "../../pipeline/stages/admit.ts";
import { splitUrl } from "../connect/request-target.ts";
import { parseBody, readSmallBody } from "../http/read-body.ts";
import { headerList, methodNotAllowed, sendRefusal, type HttpHandler } from "../http/responses.ts";
import type { McpOptions } from "./mcp-server.ts";

const PATH = "/mcp";

/**
 * Creates the Model Context Protocol server at `POST /mcp`: streamable HTTP without sessions, for agents with a
 * workspace key. Each message counts as a read, in addition to the tool's call. The server is loaded on the first
 * message.
 */
export function createMcpEndpoint(
  options: McpOptions & {
    readonly limiter: Limiter;
    readonly clientAddress: ClientAddress;
    readonly isHttps: boolean;
    /** Called for each live-mode message that exceeds the rate limit. */
    readonly onRateLimited: (limitClass: "read") => void;
  },
): HttpHandler {
  const { pipeline, limiter, clientAddress, isHttps, onRateLimited } = options;
  const server = loadOnce(async () => (await import("./mcp-server.ts")).createMcpServer(options));

  /**
   * Authenticates a message and counts it.
   *
   * @param limits receives the RateLimit headers of the response
   * @throws Refusal CREDENTIAL_REFUSED, CROSS_SITE, RATE_LIMITED, and errors of `Authenticate`
   */
  async function admit(request: IncomingMessage, headers: CallHeaders, limits: string[]): Promise<WorkspaceCaller> {
    // Session cookies are not accepted, because any page can make a browser send them.
    if (!carriesKey(headers)) throw credentialError("is missing", "workspace");
    // MCP requires an Origin check, even though browsers do not send keys automatically.
    if (headers.origin !== undefined) assertSameSite(headers, isHttps);
    const address = clientAddress(request.socket.remoteAddress, headers.forwardedFor);
    const call = receiveCall(headers, request.socket, address);
    const caller = (await pipeline.authenticate("workspace", call)) as WorkspaceCaller;
    assertNotSuspended(caller);
    const limit = caller.limits.read;
    const verdict = await limiter.consume(caller.account, "read", limit);
    const state = { limitClass: "read", limit, verdict } as const;
    limits.push(...headerList(rateLimitHeaders(state)));
    if (verdict.allowed) return caller;
    if (!caller.test) onRateLimited("read");
    throw rateLimitError(state, "workspace");
  }

  async function serve(
    request: IncomingMessage,
    response: ServerResponse,
    requestId: string,
    limits: string[],
  ): Promise<void> {
    const headers = readCallHeaders(request.rawHeaders);
    const caller = await admit(request, headers, limits);
    const body = await readSmallBody(request, headers, MAX_REQUEST_BYTES);
    const message = parseBody(body, headers, false);
    const serveMessage = await server.get();
    const answer = await serveMessage(message, { request, response, requestId, caller });
    send(response, await inAcceptedType(answer, request.headers.accept), requestId, limits);
  }

  return (request, response, requestId) => {
    if (splitUrl(request)[0] !== PATH) return false;
    if (request.method !== "POST") {
      sendRefusal(response, requestId, methodNotAllowed("POST"), ["allow", "POST"]);
      return true;
    }
    const limits: string[] = [];
    serve(request, response, requestId, limits).catch((error: unknown) => {
      sendRefusal(response, requestId, pipeline.toRefusal(error, requestId), limits);
    });
    return true;
  };
}

interface Reply {
  readonly status: number;
  readonly type: string | null;
  readonly text: string;
}

/** Extracts the single message of an event stream, unless the caller accepts event streams. */
async function inAcceptedType(response: Response, accept: string | undefined): Promise<Reply> {
  const { status, headers } = response;
  const type = headers.get("content-type");
  const text = await response.text();
  const isStream = type?.startsWith("text/event-stream") ?? false;
  if (!isStream || accept?.includes("text/event-stream")) return { status, type, text };
  const [, message = ""] = /^data: (.*)$/m.exec(text) ?? [];
  return { status, type: "application/json", text: message };
}

/** Sends the whole reply at once, even if its type is an event stream. */
function send(
  response: ServerResponse,
  { status, type, text }: Reply,
  requestId: string,
  limits: readonly string[],
): void {
  if (response.destroyed) return;
  const body = Buffer.from(text);
  response.writeHead(status, [
    ...(type === null ? [] : ["content-type", type]),
    "content-length",
    String(body.length),
    "x-request-id",
    requestId,
    "cache-control",
    "no-store",
    ...limits,
  ]);
  response.end(body);
}
