import { CONNECTIONS, type ConnectionLimits } from "../../pipeline/bounds/limits.ts";

/** A response on its way: a stream of HTTP/2, or a response of HTTP/1.1. */
export interface PendingResponse {
  /** How many bytes of it wait to be sent. */
  readonly writableLength: number;
}

const { callBytes, slowMs } = CONNECTIONS;

interface Unread {
  readonly response: PendingResponse;
  readonly length: number;
  /** Since when it has been so many. */
  readonly sinceMs: number;
}

/**
 * Finds the responses whose callers have stopped reading: those of which nothing was taken for
 * `stallMs`, and, while more than `maxBytes` wait in all, those that have waited longest. Give it all
 * responses again and again, with the bytes that each is known to hold beside those that are written;
 * `nowMs` never goes back. `cut` drops a response.
 */
export function createUnreadResponses(
  { stallMs, maxBytes }: Pick<ConnectionLimits, "stallMs" | "maxBytes">,
  cut: (response: PendingResponse) => void,
): (responses: Iterable<readonly [PendingResponse, number]>, nowMs: number) => void {
  let before: ReadonlyMap<PendingResponse, Unread> = new Map();
  return (responses, nowMs) => {
    const unread = new Map<PendingResponse, Unread>();
    let bytes = 0;
    for (const [response, heldBytes] of responses) {
      if (response.writableLength === 0) continue;
      const length = response.writableLength + Math.max(0, heldBytes);
      const known = before.get(response);
      const sinceMs = known?.length === length ? known.sinceMs : nowMs;
      if (nowMs - sinceMs >= stallMs) {
        cut(response);
        continue;
      }
      bytes += length + callBytes;
      unread.set(response, { response, length, sinceMs });
    }
    before = unread;
    if (bytes <= maxBytes) return;
    for (const { response, length, sinceMs } of [...unread.values()].toSorted(bySince)) {
      if (bytes <= maxBytes || nowMs - sinceMs < slowMs) break;
      unread.delete(response);
      bytes -= length + callBytes;
      cut(response);
    }
  };
}

function bySince(one: Unread, other: Unread): number {
  return one.sinceMs - other.sinceMs;
}

/** A socket with Node's own handle, which is not public and alone knows what the kernel has taken of a write. */
interface WritingSocket {
  readonly _handle?: { readonly bytesWritten: number; readonly writeQueueSize: number } | null;
}

/**
 * Finds sockets of which nothing was taken for `stallMs` while something waits. Node's timeout of a socket would last
 * twice as long: it takes what a write had left over for a sign of life. Give it each socket again and again.
 */
export function createStalledSockets<S extends object>(
  stallMs: number,
  cut: (socket: S) => void,
): (socket: S, nowMs: number) => void {
  const stalls = new WeakMap<S, { readonly taken: number; readonly sinceMs: number }>();
  return (socket, nowMs) => {
    const { _handle: handle } = socket as WritingSocket;
    const { bytesWritten = 0, writeQueueSize = 0 } = handle ?? {};
    if (writeQueueSize === 0) return void stalls.delete(socket);
    const taken = bytesWritten - writeQueueSize;
    const known = stalls.get(socket);
    if (known?.taken !== taken) stalls.set(socket, { taken, sinceMs: nowMs });
    else if (nowMs - known.sinceMs >= stallMs) cut(socket);
  };
}
