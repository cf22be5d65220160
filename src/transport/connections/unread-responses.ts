import { CONNECTIONS, type ConnectionLimits } from "../../pipeline/bounds/limits.ts";

/** A response on its way: a stream of HTTP/2, or a response of HTTP/1.1. */
export interface PendingResponse {
  /** How many bytes of it wait to be sent. */
  readonly writableLength: number;
}

const { callBytes, slowMs } = CONNECTIONS;

interface Unread {
  readonly response: PendingResponse;
  /** How many bytes were waiting. */
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
