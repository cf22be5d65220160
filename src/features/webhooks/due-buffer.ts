import type { DueDelivery } from "./load-due-deliveries.ts";

/** A read in flight. */
export type PendingRead = symbol;

/** Deliveries to one webhook that have been read and are not being sent yet. */
export interface DueBuffer {
  /** In the order in which they came due; whoever sends one takes it out. */
  readonly waiting: DueDelivery[];
  /** Says that more may be due than has been read. */
  expectMore(): void;
  /** Whether more may be due, and no read of it is in flight. */
  isIncomplete(): boolean;
  beginRead(): PendingRead;
  /** Adds what was read, unless everything was forgotten meanwhile; says whether it was added. */
  endRead(read: PendingRead, found: readonly DueDelivery[]): boolean;
  /** Forgets what waits, and the read in flight, which may have seen the state of before. */
  forget(): void;
  /** Whether something has waited for longer than so many milliseconds since the last read. */
  isOlderThan(ms: number): boolean;
}

/** Builds a buffer of which nothing has been read yet. */
export function createDueBuffer(): DueBuffer {
  const waiting: DueDelivery[] = [];
  let mayHaveMore = true;
  let reading: PendingRead | undefined;
  let readAtMs = 0;
  return {
    waiting,
    expectMore() {
      mayHaveMore = true;
    },
    isIncomplete: () => mayHaveMore && reading === undefined,
    beginRead() {
      mayHaveMore = false;
      readAtMs = performance.now();
      return (reading = Symbol("read"));
    },
    endRead(read, found) {
      if (reading !== read) return false;
      reading = undefined;
      waiting.push(...found);
      return true;
    },
    forget() {
      waiting.length = 0;
      reading = undefined;
      mayHaveMore = true;
    },
    isOlderThan: (ms) => waiting.length > 0 && performance.now() - readAtMs > ms,
  };
}
