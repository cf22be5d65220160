import type { ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import type { ConnectionCalls } from "./connection-calls.ts";

/**
 * Loses the answer to a call over HTTP/2 as a network does: breaks the connection, so that clients find the
 * service unavailable. One that other calls are open on, which may be live, stays: there the call is answered
 * as by a proxy whose connection broke, which clients take for the same. Nothing happens where the caller has left.
 */
export function loseStreamAnswer(stream: ServerHttp2Stream, calls: ConnectionCalls): void {
  if (stream.closed || stream.destroyed) return;
  if (calls.open().size > 1) stream.respond({ ":status": 503 }, { endStream: true });
  else breakConnection(stream.session!.socket);
}

/** Breaks a connection without a goodbye, which clients might take for a call that was cancelled. */
export function breakConnection(socket: Pick<Socket, "resetAndDestroy">): void {
  socket.resetAndDestroy();
}
