import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { EntityManager } from "../db/orm.ts";
import { purgeEndedKeys } from "../features/credentials/purge-ended-keys.ts";
import { purgeEvents } from "../features/events/purge-events.ts";
import { purgeStoredResponses } from "../features/idempotency/purge-stored-responses.ts";
import { purgeSignIns } from "../features/people/purge-sign-ins.ts";
import { purgeReports } from "../features/reports/purge-reports.ts";
import { purgeDeliveries } from "../features/webhooks/purge-deliveries.ts";

/** How often to purge, in milliseconds. */
const PURGE_MS = 10 * 60 * 1_000;

/**
 * Purges stored responses, keys, deliveries, sign-ins, counts of calls and events that have expired,
 * until the signal aborts.
 */
export async function purgeRegularly(options: {
  readonly em: EntityManager;
  readonly log: Logger;
  readonly now: () => Date;
  /** How long events are kept, in days; undefined for ever. */
  readonly eventRetentionDays: number | undefined;
  readonly shutdownSignal: AbortSignal;
}): Promise<void> {
  const { em, log, now, eventRetentionDays, shutdownSignal } = options;
  const warn = (error: unknown) => log.warn({ err: error }, "purge failed");
  while (!shutdownSignal.aborted) {
    await purgeStoredResponses(em).catch(warn);
    await purgeEndedKeys(em).catch(warn);
    await purgeDeliveries(em, now()).catch(warn);
    await purgeSignIns(em).catch(warn);
    await purgeReports(em).catch(warn);
    if (eventRetentionDays !== undefined) await purgeEvents(em, eventRetentionDays).catch(warn);
    await sleep(PURGE_MS, undefined, { ref: false, signal: shutdownSignal }).catch(() => undefined);
  }
}
