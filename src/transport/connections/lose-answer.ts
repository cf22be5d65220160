import { constants, type ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";

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
