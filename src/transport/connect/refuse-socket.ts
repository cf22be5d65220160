import { randomUUID } from "node:crypto";
import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Refusal } from "../../domain/refusal.ts";
import { errorBody } from "../../pipeline/refusals/refusal-body.ts";
import { REASONS } from "../../domain/refusal-reasons.ts";

/** How long a caller may take to read why it is refused, in milliseconds. */
const READING_MS = 1_000;

/** Refuses, in the usual form by HTTP/1.1, what brings no request that a server could answer. */
export function refuseSocket(socket: Socket, refusal: Refusal): void {
  const { httpStatus } = REASONS[refusal.reason];
  const requestId = randomUUID();
  const body = JSON.stringify(errorBody(refusal, requestId));
  endWith(
    socket,
    `HTTP/1.1 ${httpStatus} ${STATUS_CODES[httpStatus]}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nX-Request-Id: ${requestId}\r\n` +
      `Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n${body}`,
  );
}

/** Sends the last that a connection is sent, and closes it soon, whatever its caller does. */
export function endWith(socket: Socket, bytes: string | Uint8Array): void {
  socket.end(bytes);
  setTimeout(() => socket.destroy(), READING_MS).unref();
}
