import { randomUUID } from "node:crypto";
import { STATUS_CODES } from "node:http";
import { constants } from "node:http2";
import type { Socket } from "node:net";
import type { Refusal } from "../../domain/refusal.ts";
import { refusalBody } from "../../pipeline/refusals/refusal-body.ts";
import { REASONS } from "../../domain/refusal-reasons.ts";

/** Time for a caller to read the refusal, in milliseconds. */
const READING_MS = 1_000;

/** Refuses a connection without a valid request. Sends the refusal as JSON over HTTP/1.1. */
export function refuseSocket(socket: Socket, refusal: Refusal): void {
  const { httpStatus } = REASONS[refusal.reason];
  const requestId = randomUUID();
  const body = JSON.stringify(refusalBody(refusal, requestId));
  endWith(
    socket,
    `HTTP/1.1 ${httpStatus} ${STATUS_CODES[httpStatus]}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nX-Request-Id: ${requestId}\r\n` +
      `Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n${body}`,
  );
}

/** Sends the last bytes of a connection, and closes it after a short time even if the caller stalls. */
function endWith(socket: Socket, bytes: string | Uint8Array): void {
  socket.end(bytes);
  setTimeout(() => socket.destroy(), READING_MS).unref();
}

const SETTINGS = 4;
const GOAWAY = 7;
const REASON = "This port serves HTTP/1.1. gRPC over HTTP/2 is on the port GRPC_PORT.";

/**
 * Refuses an HTTP/2 connection. SETTINGS must be the first frame. GOAWAY follows with debug data that
 * gRPC clients show (RFC 9113, 3.4 and 6.8).
 */
export function refuseHttp2(socket: Socket): void {
  const lastStreamAndCode = Buffer.alloc(8);
  lastStreamAndCode.writeUInt32BE(constants.NGHTTP2_HTTP_1_1_REQUIRED, 4);
  const goAway = Buffer.concat([lastStreamAndCode, Buffer.from(REASON)]);
  endWith(socket, Buffer.concat([frame(SETTINGS, Buffer.alloc(0)), frame(GOAWAY, goAway)]));
}

/** Returns a connection frame: 3 bytes of length, the type, no flags, and stream 0. */
function frame(type: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  return Buffer.concat([head, payload]);
}
