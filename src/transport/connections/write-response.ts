import { constants, type Http2Stream, type ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import type { Writable } from "node:stream";
import type { ConnectionCalls } from "./connection-calls.ts";

const PIECE_BYTES = 64 * 1024;

/**
 * Ends a response with these bytes, in chunks if there are many. Node reports a write only when it
 * is complete, so a slow reader would look stalled.
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

/** Splits large chunks, for the same reason. */
export async function* inPieces(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  for await (const chunk of body) {
    for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
      yield chunk.subarray(at, at + PIECE_BYTES);
    }
  }
}

/** Time for which a caller may continue sending over HTTP/2 after an early response, in milliseconds. */
const GRACE_MS = 1_000;

/** Closes the stream of an early response unless it ends soon. */
export function closeStreamAfterGrace(stream: Http2Stream): void {
  const cut = setTimeout(() => stream.close(), GRACE_MS);
  stream.once("close", () => clearTimeout(cut));
}

/**
 * Simulates a lost response over HTTP/2: resets the stream, as a proxy with a broken connection
 * does, without affecting other calls. Uses INTERNAL_ERROR, because clients may repeat
 * REFUSED_STREAM, and CANCEL would look like the caller's own action.
 */
export function loseStreamAnswer(stream: ServerHttp2Stream): void {
  stream.close(constants.NGHTTP2_INTERNAL_ERROR);
}

/** Breaks a connection abruptly, so that clients do not mistake it for a cancelled call. */
export function breakConnection(socket: Pick<Socket, "resetAndDestroy">): void {
  socket.resetAndDestroy();
}
