import type { Logger } from "pino";
import type { EntityManager } from "../db/orm.ts";
import type { TableRows } from "../db/servers.ts";
import { loadNewestEventMs } from "../features/events/load-feed.ts";
import { type DueWork, loadDueWork } from "../features/reports/load-due-work.ts";
import { loadTableRows } from "../features/reports/load-figures.ts";
import { countOverdueWork, type OverdueWork } from "../features/reports/overdue-payments.ts";

/** Database metrics for `/metrics`. They are read in advance, so that scrapes do not wait. */
export type DatabaseFigures = ReturnType<typeof createDatabaseFigures>;

interface Figures {
  readonly due: readonly DueWork[];
  readonly overdue: OverdueWork;
  /** Time of the newest event, in milliseconds since the epoch. null if there is no event. */
  readonly newestEventMs: number | null;
  readonly tables: readonly TableRows[];
  /** Time of the reading, in milliseconds since the epoch. */
  readonly readMs: number;
}

/** Interval between readings, in milliseconds. Similar to usual scrape intervals. */
const REFRESH_MS = 15_000;
/**
 * Minimum pause as a multiple of a reading's duration, so that readings use a connection for at most 1 % of the time.
 */
const REST_FACTOR = 100;
/** Delay after a failed reading, in milliseconds. */
const RETRY_MS = 60_000;

export function createDatabaseFigures(options: {
  readonly em: EntityManager;
  readonly log: Logger;
  readonly now: () => Date;
  /** Whether pictures are moved to a bucket. */
  readonly movesPictures: boolean;
}) {
  const { em, log, now, movesPictures } = options;
  let latest: Figures | undefined;

  async function readFigures(): Promise<number> {
    const startedMs = performance.now();
    const due = await loadDueWork(em, movesPictures);
    const overdue = await countOverdueWork(em, now());
    const newestEventMs = await loadNewestEventMs(em);
    const tables = await loadTableRows(em);
    latest = { due, overdue, newestEventMs, tables, readMs: now().getTime() };
    return Math.max(REFRESH_MS, (performance.now() - startedMs) * REST_FACTOR);
  }

  return {
    /** Reads the metrics. Returns the delay until the next reading, in milliseconds. Never rejects. */
    refresh: () =>
      // The last metrics are kept if a reading fails. `DatabaseContact` logs outages.
      readFigures().catch((error: unknown) => {
        log.debug({ err: error }, "database metrics could not be read");
        return RETRY_MS;
      }),
    /** Returns the last successful reading. `undefined` before the first. */
    latest: () => latest,
  };
}
