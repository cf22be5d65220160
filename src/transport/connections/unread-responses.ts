import { CONNECTIONS, type ConnectionLimits } from "../../pipeline/bounds/limits.ts";

/** A pending response: an HTTP/2 stream or an HTTP/1.1 response. */
export interface PendingResponse {
  /** Bytes waiting to be sent. */
  readonly writableLength: number;
}

const { callBytes, slowMs } = CONNECTIONS;

interface Unread {
  readonly response: PendingResponse;
  readonly length: number;
  /** Time of the last change of `length`. */
  readonly sinceMs: number;
}

/**
 * Finds responses whose callers have stopped reading: responses without progress for `stallMs` and,
 * while more than `maxBytes` are waiting in total, those that have waited longest. Call the returned
 * function regularly with all responses and the bytes that each holds beyond the written bytes. `nowMs`
 * must not decrease. `cut` drops a response.
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

/** A socket with Node's internal handle. Only the handle knows how much of a write the kernel has accepted. */
interface WritingSocket {
  readonly _handle?: { readonly bytesWritten: number; readonly writeQueueSize: number } | null;
}

/**
 * Finds sockets with waiting data and no progress for `stallMs`. Node's socket timeout would take twice as long,
 * because it counts a remaining part of a write as activity. Call the returned function regularly with all sockets.
 */
export function createStalledSockets<S extends object>(
  stallMs: number,
  cut: (socket: S) => void,
): (socket: S, nowMs: number) => void {
  const stalls = new WeakMap<S, { readonly bytesRead: number; readonly sinceMs: number }>();
  return (socket, nowMs) => {
    const { _handle: handle } = socket as WritingSocket;
    const { bytesWritten = 0, writeQueueSize = 0 } = handle ?? {};
    if (writeQueueSize === 0) return void stalls.delete(socket);
    const bytesRead = bytesWritten - writeQueueSize;
    const known = stalls.get(socket);
    if (known?.bytesRead !== bytesRead) stalls.set(socket, { bytesRead, sinceMs: nowMs });
    else if (nowMs - known.sinceMs >= stallMs) cut(socket);
  };
}
