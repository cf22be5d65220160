import { randomUUID } from "node:crypto";
import { STATUS_CODES } from "node:http";
import { constants } from "node:http2";
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
function endWith(socket: Socket, bytes: string | Uint8Array): void {
  socket.end(bytes);
  setTimeout(() => socket.destroy(), READING_MS).unref();
}

const SETTINGS = 4;
const GOAWAY = 7;
const REASON = "This port speaks HTTP/1.1; gRPC, by HTTP/2, is at the port GRPC_PORT.";

/**
 * Refuses a caller that speaks HTTP/2: with SETTINGS, which have to come first, and GOAWAY, whose debug data
 * gRPC's clients show (RFC 9113, sections 3.4 and 6.8).
 */
export function refuseHttp2(socket: Socket): void {
  const lastStreamAndCode = Buffer.alloc(8);
  lastStreamAndCode.writeUInt32BE(constants.NGHTTP2_HTTP_1_1_REQUIRED, 4);
  const goAway = Buffer.concat([lastStreamAndCode, Buffer.from(REASON)]);
  endWith(socket, Buffer.concat([frame(SETTINGS, Buffer.alloc(0)), frame(GOAWAY, goAway)]));
}

/** A frame of the connection as a whole: 3 bytes of length, then its type, no flags, and stream 0. */
function frame(type: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  return Buffer.concat([head, payload]);
}
