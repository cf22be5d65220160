import { constants, type Http2Stream, type ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import type { Writable } from "node:stream";
import type { ConnectionCalls } from "./connection-calls.ts";

const CHUNK_BYTES = 64 * 1024;

/**
 * Writes the last bytes of a response, in chunks if there are many. Node reports a write only when it
 * is complete, so one large write to a slow reader would look stalled.
 */
export function sendInChunks(
  response: Writable,
  bytes: Buffer | undefined,
  calls: Pick<ConnectionCalls, "sent">,
): void {
  if (bytes === undefined || bytes.length <= CHUNK_BYTES) return void response.end(bytes);
  response.write(bytes.subarray(0, CHUNK_BYTES), (error) => {
    if (error || response.destroyed) return;
    calls.sent(response, CHUNK_BYTES);
    sendInChunks(response, bytes.subarray(CHUNK_BYTES), calls);
  });
}

/** Splits large chunks, because a large write to a slow reader would look stalled. */
export async function* inChunks(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  for await (const chunk of body) {
    for (let at = 0; at < chunk.length; at += CHUNK_BYTES) {
      yield chunk.subarray(at, at + CHUNK_BYTES);
    }
  }
}

/** Time for which a caller may continue to send on an HTTP/2 stream after an early response, in milliseconds. */
const GRACE_MS = 1_000;

/** Closes the stream of an early response, unless the stream ends within the grace period. */
export function closeStreamAfterGrace(stream: Http2Stream): void {
  const cut = setTimeout(() => stream.close(), GRACE_MS);
  stream.once("close", () => clearTimeout(cut));
}

/**
 * Simulates a lost response over HTTP/2. Resets only the stream of the call, as a proxy does when its connection
 * breaks. The code is INTERNAL_ERROR, because clients may repeat a call after REFUSED_STREAM, and CANCEL would look
 * like an action of the caller.
 */
export function loseStreamAnswer(stream: ServerHttp2Stream): void {
  stream.close(constants.NGHTTP2_INTERNAL_ERROR);
}

/** Resets a connection, so that clients do not mistake the lost response for a canceled call. */
export function breakConnection(socket: Pick<Socket, "resetAndDestroy">): void {
  socket.resetAndDestroy();
}
