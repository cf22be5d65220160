import type { ServerResponse } from "node:http";

/** Headers beyond those every answer has: names and values in turn. */
export type ExtraHeaders = readonly string[];

/** Sends a whole JSON answer. Does nothing if an answer has begun or the caller has gone. */
export function sendJson(
  response: ServerResponse,
  status: number,
  requestId: string,
  body: unknown,
  extraHeaders: ExtraHeaders = [],
): void {
  if (response.headersSent || response.destroyed) return;
  const text = JSON.stringify(body);
  response.writeHead(status, [
    "content-type",
    "application/json",
    "content-length",
    String(Buffer.byteLength(text)),
    "x-request-id",
    requestId,
    ...extraHeaders,
  ]);
  response.end(text);
}
