import type { Logger } from "pino";
import type { EntityManager } from "../db/orm.ts";
import { loadNewestEventMs } from "../features/events/load-feed.ts";
import { loadMailBacklog, type MailBacklog } from "../features/people/mail-backlog.ts";
import {
  loadTableRows,
  sampleBacklog,
  type TableRows,
  type WebhookBacklog,
} from "../features/reports/load-figures.ts";
import { countOverdueWork, type OverdueWork } from "../features/reports/overdue-payments.ts";

/** What the database is asked for `/metrics`, ahead of time, so that no scrape waits for it. */
export interface DatabaseFigures {
  /** Looks, and gives when to look again, in milliseconds. Never rejects. */
  look(): Promise<number>;
  /** What the last look that succeeded found; undefined before the first. */
  latest(): Figures | undefined;
}

export interface Figures {
  readonly backlog: WebhookBacklog;
  readonly mails: MailBacklog;
  readonly overdue: OverdueWork;
  /** When the newest event was written, in milliseconds since the epoch; null for none. */
  readonly newestEventMs: number | null;
  readonly tables: readonly TableRows[];
  /** When the database was asked, in milliseconds since the epoch. */
  readonly readMs: number;
}

/** How often to look, in milliseconds: as often as metrics are usually scraped. */
const LOOK_MS = 15_000;
/** How many times as long as a look took is waited at least: it keeps a connection busy 1 %. */
const REST_FACTOR = 100;
/** How long is waited after a look that failed, in milliseconds. */
const RETRY_MS = 60_000;

export function createDatabaseFigures(options: {
  readonly em: EntityManager;
  readonly log: Logger;
  readonly now: () => Date;
}): DatabaseFigures {
  const { em, log, now } = options;
  let latest: Figures | undefined;

  async function look(): Promise<number> {
    const startedMs = performance.now();
    const backlog = await sampleBacklog(em);
    const mails = await loadMailBacklog(em);
    const overdue = await countOverdueWork(em, now());
    const newestEventMs = await loadNewestEventMs(em);
    const tables = await loadTableRows(em);
    latest = { backlog, mails, overdue, newestEventMs, tables, readMs: now().getTime() };
    return Math.max(LOOK_MS, (performance.now() - startedMs) * REST_FACTOR);
  }

  return {
    look: () =>
      // While the database is away, the last figures stand; its absence is logged elsewhere.
      look().catch((error: unknown) => {
        log.debug({ err: error }, "figures not read");
        return RETRY_MS;
      }),
    latest: () => latest,
  };
}
