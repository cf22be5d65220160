import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { EntityManager } from "../db/orm.ts";
import { purgeKeys } from "../features/credentials/secret-keys.ts";
import { purgeEvents } from "../features/events/purge-events.ts";
import { purgeStoredResponses } from "../features/idempotency/purge-stored-responses.ts";
import { purgeSignIns } from "../features/people/end-sign-ins.ts";
import { purgeReports } from "../features/reports/purge-reports.ts";
import { purgeDeliveries } from "../features/webhooks/purge-deliveries.ts";
import type { Instruments, Purged } from "./instruments.ts";

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
  readonly countPurge: Instruments["countPurge"];
  readonly shutdownSignal: AbortSignal;
}): Promise<void> {
  const { em, log, now, eventRetentionDays, countPurge, shutdownSignal } = options;
  async function purge(kind: Purged, rows: Promise<number>): Promise<void> {
    try {
      countPurge(kind, await rows);
    } catch (error) {
      countPurge(kind, undefined);
      log.warn({ err: error, kind }, "purge failed");
    }
  }
  while (!shutdownSignal.aborted) {
    await purge("stored_responses", purgeStoredResponses(em));
    await purge("keys", purgeKeys(em));
    await purge("deliveries", purgeDeliveries(em, now()));
    await purge("sign_ins", purgeSignIns(em));
    await purge("usage", purgeReports(em));
    if (eventRetentionDays !== undefined) {
      await purge("events", purgeEvents(em, eventRetentionDays));
    }
    await sleep(PURGE_MS, undefined, { ref: false, signal: shutdownSignal }).catch(() => undefined);
  }
}
