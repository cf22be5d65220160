import { constants, type Http2Stream, type ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import type { Writable } from "node:stream";
import type { ConnectionCalls } from "./connection-calls.ts";

const PIECE_BYTES = 64 * 1024;

/**
 * Ends a response with these bytes, piece by piece when they are many, since Node tells of a write only
 * when it is sent whole: otherwise a caller that reads slowly would pass for one that has stopped.
 */
export function sendInPieces(
  response: Writable,
  bytes: Buffer | undefined,
  calls: Pick<ConnectionCalls, "sent">,
): void {
  if (bytes === undefined || bytes.length <= PIECE_BYTES) return void response.end(bytes);
  response.write(bytes.subarray(0, PIECE_BYTES), (error) => {
    if (error || response.destroyed) return;
    calls.sent(response, PIECE_BYTES);
    sendInPieces(response, bytes.subarray(PIECE_BYTES), calls);
  });
}

/** Cuts what is large into pieces, for the same reason. */
export async function* inPieces(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  for await (const chunk of body) {
    for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
      yield chunk.subarray(at, at + PIECE_BYTES);
    }
  }
}

/** How long a caller that was answered early may go on sending over HTTP/2, in milliseconds. */
const GRACE_MS = 1_000;

/** Closes the stream of a caller that was answered early, unless it has soon ended by itself. */
export function closeStreamAfterGrace(stream: Http2Stream): void {
  const cut = setTimeout(() => stream.close(), GRACE_MS);
  stream.once("close", () => clearTimeout(cut));
}

/**
 * Loses the answer to a call over HTTP/2: resets its stream, as a proxy does whose connection broke, and leaves other
 * calls on the connection alone. By INTERNAL_ERROR, since clients may repeat what was refused (REFUSED_STREAM), and
 * CANCEL would look like the caller's own doing.
 */
export function loseStreamAnswer(stream: ServerHttp2Stream): void {
  stream.close(constants.NGHTTP2_INTERNAL_ERROR);
}

/** Breaks a connection without a goodbye, which clients might take for a call that was cancelled. */
export function breakConnection(socket: Pick<Socket, "resetAndDestroy">): void {
  socket.resetAndDestroy();
}
