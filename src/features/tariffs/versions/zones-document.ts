import type { EntityManager } from "../../../db/orm.ts";
import { createSemaphore } from "../../../db/semaphore.ts";

/** Runs reads of many megabytes, a few at a time; the rest wait in their order. */
export type LargeReads = <T>(read: () => Promise<T>) => Promise<T>;

/** What gives the zones of drafts and versions. */
export interface ZonesDeps {
  readonly em: EntityManager;
  readonly readLarge: LargeReads;
}

/** How many run at a time: each has a connection for seconds, and others need those of the pool too. */
const MAX_READS = 2;

/** Builds the bound for one process. */
export function createLargeReads(): LargeReads {
  const turn = createSemaphore(MAX_READS);
  return async (read) => {
    await turn.acquire();
    try {
      return await read();
    } finally {
      turn.release();
    }
  };
}
