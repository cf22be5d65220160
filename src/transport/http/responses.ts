import type { ServerResponse, IncomingMessage } from "node:http";
import { isReading } from "./negotiation.ts";
import { refuse, type Refusal } from "../../domain/refusal.ts";
import { refusalBody, refusalHeaders } from "../../pipeline/refusals/refusal-body.ts";
import { REASONS } from "../../domain/refusal-reasons.ts";

/** Serves a request outside the API. Returns whether the request was handled. */
export type HttpHandler = (request: IncomingMessage, response: ServerResponse, requestId: string) => boolean;

/** Additional headers, alternating names and values. */
export type ExtraHeaders = readonly string[];

/** Sends a JSON response. No-op if the response has started or the caller has disconnected. */
export function sendJson(
  response: ServerResponse,
  status: number,
  requestId: string,
  body: unknown,
  extraHeaders: ExtraHeaders = [],
): void {
  sendJsonText(response, status, requestId, JSON.stringify(body), extraHeaders);
}

/** Like `sendJson`, with a body that is already JSON text. */
export function sendJsonText(
  response: ServerResponse,
  status: number,
  requestId: string,
  text: string,
  extraHeaders: ExtraHeaders,
): void {
  if (response.headersSent || response.destroyed) return;
  const bytes = Buffer.byteLength(text);
  response.writeHead(status, [
    "content-type",
    "application/json",
    "content-length",
    String(bytes),
    "x-request-id",
    requestId,
    // Responses are private, so no cache may store them.
    "cache-control",
    "no-store",
    ...extraHeaders,
  ]);
  // ASCII text is the same in both encodings, but Latin-1 is written faster.
  response.end(text, bytes === text.length ? "latin1" : "utf8");
}

/** Sends a refusal, in the form of the JSON API, for a request outside the API. */
export function sendRefusal(
  response: ServerResponse,
  requestId: string,
  refusal: Refusal,
  extraHeaders: ExtraHeaders = [],
): void {
  const { status, body, headers } = describeRefusal(refusal, requestId, extraHeaders);
  sendJson(response, status, requestId, body, headers);
}

export function describeRefusal(refusal: Refusal, requestId: string, extraHeaders: ExtraHeaders) {
  return {
    status: REASONS[refusal.reason].httpStatus,
    body: refusalBody(refusal, requestId),
    headers: [...extraHeaders, ...headerList(refusalHeaders(refusal))],
  };
}

/** Returns headers as alternating names and values, which Node writes faster than an object. */
export function headerList(headers: Readonly<Record<string, string>>): string[] {
  const list: string[] = [];
  for (const name in headers) list.push(name, headers[name]!);
  return list;
}

/** Calls `read` for GET and HEAD. Refuses other methods. */
export function forReading(
  request: IncomingMessage,
  response: ServerResponse,
  requestId: string,
  read: () => void,
): true {
  return forMethods(request, response, { requestId, others: [] }, read);
}

/** Calls `handle` for GET, HEAD and the `others`. Refuses other methods. */
export function forMethods(
  request: IncomingMessage,
  response: ServerResponse,
  { requestId, others }: { readonly requestId: string; readonly others: readonly string[] },
  handle: () => void,
): true {
  const allow = ["GET", "HEAD", ...others].join(", ");
  if (isReading(request) || others.includes(request.method!)) handle();
  else sendRefusal(response, requestId, methodNotAllowed(allow), ["allow", allow]);
  return true;
}

export function methodNotAllowed(allow: string): Refusal {
  return refuse("METHOD_NOT_ALLOWED", `This path does not support that method. It supports ${allow}.`);
}
