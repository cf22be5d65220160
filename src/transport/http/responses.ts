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
  sendJsonText(response, status, requestId, JSON.stringify(body), extraHeaders);
}

/** As `sendJson`, with a body that is JSON text already. */
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
    // Most is for one caller alone, and nothing of it is to be kept by whoever is on the way.
    "cache-control",
    "no-store",
    ...extraHeaders,
  ]);
  // Text of one byte a character is the same in both encodings, and Latin-1 is written faster.
  response.end(text, bytes === text.length ? "latin1" : "utf8");
}
