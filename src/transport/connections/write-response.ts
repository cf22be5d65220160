import type { Writable } from "node:stream";
import type { ConnectionCalls } from "./connection-calls.ts";

/** How much of an answer is written at a time, in bytes. */
const PIECE_BYTES = 64 * 1024;

/**
 * Ends an answer with these bytes, piece by piece when they are many, since Node tells of a write only
 * when it is sent whole: otherwise a caller that reads slowly would pass for one that has stopped.
 */
export function sendInPieces(
  answer: Writable,
  bytes: Buffer | undefined,
  calls: Pick<ConnectionCalls, "sent">,
): void {
  if (bytes === undefined || bytes.length <= PIECE_BYTES) return void answer.end(bytes);
  answer.write(bytes.subarray(0, PIECE_BYTES), (error) => {
    if (error || answer.destroyed) return;
    calls.sent(answer, PIECE_BYTES);
    sendInPieces(answer, bytes.subarray(PIECE_BYTES), calls);
  });
}
