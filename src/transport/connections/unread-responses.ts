/** An answer on its way: a stream of HTTP/2, or a response of HTTP/1.1. */
export interface Answer {
  /** How many bytes of it wait to be sent. */
  readonly writableLength: number;
}

/** Bounds on answers that wait to be sent. */
export interface UnreadLimits {
  /** How long an answer may wait without a byte being taken, in milliseconds. */
  readonly stallMs: number;
  /** How much may wait to be sent to all callers of a server, in bytes. */
  readonly maxBytes: number;
}

/** What a call costs in memory beside its answer, in bytes, as measured with 9,000 small answers. */
export const CALL_BYTES = 32 * 1024;
/** How long an answer must have waited to be cut for the sake of the others, in milliseconds. */
const SLOW_MS = 1_000;

interface Unread {
  readonly answer: Answer;
  /** How many bytes were waiting. */
  readonly length: number;
  /** Since when it has been so many. */
  readonly sinceMs: number;
}

/**
 * Finds the answers whose callers have stopped reading: those of which nothing was taken for
 * `stallMs`, and, while more than `maxBytes` wait in all, those that have waited longest. Give it all
 * answers again and again, with the bytes that each is known to hold beside those that are written;
 * `nowMs` never goes back. `cut` drops an answer.
 */
export function createUnreadAnswers(
  { stallMs, maxBytes }: UnreadLimits,
  cut: (answer: Answer) => void,
): (answers: Iterable<readonly [Answer, number]>, nowMs: number) => void {
  let before: ReadonlyMap<Answer, Unread> = new Map();
  return (answers, nowMs) => {
    const unread = new Map<Answer, Unread>();
    let bytes = 0;
    for (const [answer, heldBytes] of answers) {
      if (answer.writableLength === 0) continue;
      const length = answer.writableLength + Math.max(0, heldBytes);
      const known = before.get(answer);
      const sinceMs = known?.length === length ? known.sinceMs : nowMs;
      if (nowMs - sinceMs >= stallMs) {
        cut(answer);
        continue;
      }
      bytes += length + CALL_BYTES;
      unread.set(answer, { answer, length, sinceMs });
    }
    before = unread;
    if (bytes <= maxBytes) return;
    for (const { answer, length, sinceMs } of [...unread.values()].toSorted(bySince)) {
      if (bytes <= maxBytes || nowMs - sinceMs < SLOW_MS) break;
      unread.delete(answer);
      bytes -= length + CALL_BYTES;
      cut(answer);
    }
  };
}

function bySince(one: Unread, other: Unread): number {
  return one.sinceMs - other.sinceMs;
}
