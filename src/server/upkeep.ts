import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { EntityManager } from "../db/orm.ts";
import type { SecretSeal } from "../domain/secret-seal.ts";
import { purgeKeys } from "../features/credentials/secret-keys.ts";
import { purgeEvents } from "../features/events/purge-events.ts";
import { purgeStoredResponses } from "../features/idempotency/stored-responses.ts";
import { purgeSignIns } from "../features/people/end-sign-ins.ts";
import { purgeReports } from "../features/reports/usage-counter.ts";
import { purgeDeliveries } from "../features/webhooks/webhook-delivery.entity.ts";
import { sealStoredSecrets } from "../features/webhooks/webhook-secrets.ts";
import type { Instruments, Purged } from "./instruments.ts";

/** Does work again and again until the signal aborts; it gives how long to rest, in milliseconds. */
export async function repeat(signal: AbortSignal, work: () => Promise<number>): Promise<void> {
  while (!signal.aborted) {
    await sleep(await work(), undefined, { ref: false, signal }).catch(() => undefined);
  }
}

/** How often to purge, in milliseconds. */
const PURGE_MS = 10 * 60 * 1_000;

/**
 * Deletes what has expired: stored responses, keys, deliveries, sign-ins, counts of calls, events. Gives
 * when to purge again, in milliseconds. Never rejects.
 */
export async function purgeExpired(options: {
  readonly em: EntityManager;
  readonly log: Logger;
  readonly now: () => Date;
  /** How long events are kept, in days; undefined for ever. */
  readonly eventRetentionDays: number | undefined;
  readonly countPurge: Instruments["countPurge"];
}): Promise<number> {
  const { em, log, now, eventRetentionDays: days, countPurge } = options;
  async function purge(kind: Purged, rows: Promise<number>): Promise<void> {
    try {
      countPurge(kind, await rows);
    } catch (error) {
      countPurge(kind, undefined);
      log.warn({ err: error, kind }, "purge failed");
    }
  }
  await purge("stored_responses", purgeStoredResponses(em));
  await purge("keys", purgeKeys(em));
  await purge("deliveries", purgeDeliveries(em, now()));
  await purge("sign_ins", purgeSignIns(em));
  await purge("usage", purgeReports(em));
  if (days !== undefined) await purge("events", purgeEvents(em, days));
  return PURGE_MS;
}

/** How often to look for secrets that a process without the key has stored, in milliseconds. */
const SEAL_MS = 10 * 60 * 1_000;

/**
 * Builds what seals secrets that are stored as they are, or sealed by an earlier key, and gives when to do
 * it again, in milliseconds. The first time it also says how secrets are stored. Never rejects.
 */
export function createSealSecrets(em: EntityManager, secretSeal: SecretSeal, log: Logger) {
  const { keyId } = secretSeal;
  let isFirst = true;
  return async (): Promise<number> => {
    try {
      const count = await sealStoredSecrets(em, secretSeal);
      if (count.unopened > 0) {
        log.error(count, "no key in SECRETS_KEYS opens the secrets of some webhooks");
      } else if (keyId === undefined) {
        if (isFirst && count.webhooks > 0) log.warn(count, NOT_SEALED);
      } else if (isFirst || count.sealed > 0) {
        log.info({ ...count, keyId }, "the first key in SECRETS_KEYS seals all secrets");
      }
    } catch (error) {
      log.warn({ err: error }, "secrets could not be sealed");
    }
    isFirst = false;
    return SEAL_MS;
  };
}

const NOT_SEALED = "secrets of webhooks are stored as they are: SECRETS_KEYS would seal them";
