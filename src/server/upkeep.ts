import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { EntityManager } from "../db/orm.ts";
import { createSemaphore } from "../db/semaphore.ts";
import type { SecretSeal } from "../domain/secret-seal.ts";
import { purgeKeys } from "../features/credentials/secret-keys.ts";
import { purgeEvents } from "../features/events/purge-events.ts";
import { purgeStoredResponses } from "../features/idempotency/stored-responses.ts";
import { sealConnections } from "../features/payments/seal-connections.ts";
import { purgeProviderEvents } from "../features/payments/payment-jobs.ts";
import { purgeSignIns } from "../features/people/end-sign-ins.ts";
import { purgeMails } from "../features/people/send-mails.ts";
import { convertOptOuts } from "../features/recipients/recipient-opt-out.entity.ts";
import { purgeRecipientMails } from "../features/recipients/send-recipient-mails.ts";
import { purgeRequests } from "../features/reports/request-log.ts";
import { purgeReports } from "../features/reports/usage-counter.ts";
import { purgeTestData } from "../features/test-mode/delete-test-data.ts";
import { purgeDeliveries } from "../features/webhooks/webhook-delivery.entity.ts";
import { sealQuoteKeys } from "../features/quotes/quote-keys.ts";
import { purgePlaces } from "../features/shipments/courier-places.ts";
import { purgePictures } from "../features/shipments/proof-picture.entity.ts";
import { purgeUsedQuotes } from "../features/quotes/used-quote.entity.ts";
import { sealStoredSecrets } from "../features/webhooks/webhook-secrets.ts";
import type { Instruments, Purged } from "./instruments.ts";

/**
 * Repeats work until shutdown. The work returns the next pause in milliseconds.
 *
 * @param rests "together" makes the pauses of several works end at the same time, "apart" does not. Default "apart"
 */
export type Repeat = (work: () => Promise<number>, rests?: "together" | "apart") => Promise<void>;

/**
 * Creates the background scheduler, which stops when the signal aborts. Each work starts after the first run
 * of the previous one, so that a starting process does not open a connection for each. For the same reason,
 * "apart" pauses are randomly shortened by up to a tenth. "together" pauses end at a multiple of their length.
 *
 * @param maxRestMs maximum pause in milliseconds
 */
export function createRepeat(signal: AbortSignal, maxRestMs = Infinity): Repeat {
  const turn = createSemaphore(1);
  async function lookInTurn(work: () => Promise<number>): Promise<number> {
    await turn.acquire();
    try {
      return signal.aborted ? 0 : await work();
    } finally {
      turn.release();
    }
  }
  return async (work, rests = "apart") => {
    let restMs = await lookInTurn(work);
    while (!signal.aborted) {
      const longestMs = Math.min(restMs, maxRestMs);
      const ms =
        rests === "apart"
          ? longestMs * (1 - Math.random() / 10)
          : longestMs && longestMs - (performance.now() % longestMs);
      await sleep(ms, undefined, { ref: false, signal }).catch(() => undefined);
      if (!signal.aborted) restMs = await work();
    }
  };
}

/** Interval of polling for due work, in milliseconds. */
const POLL_MS = 500;

/**
 * Runs a job repeatedly. Polls together with other jobs. Never rejects.
 *
 * @param job returns whether more work may be due
 */
export function repeatJob(
  {
    repeat,
    log,
    pollMs = POLL_MS,
  }: {
    readonly repeat: Repeat;
    readonly log: Pick<Logger, "warn">;
    readonly pollMs?: number | undefined;
  },
  failure: string,
  job: () => Promise<boolean>,
): Promise<void> {
  return repeat(async () => {
    try {
      return (await job()) ? 0 : pollMs;
    } catch (error) {
      log.warn({ err: error }, failure);
      return pollMs;
    }
  }, "together");
}

const PURGE_MS = 10 * 60 * 1_000;

/**
 * Deletes expired data: stored responses, keys, deliveries, provider events, used quotes, sign-ins, emails,
 * counts, the request log, test data and events. Returns the next pause in milliseconds. Never rejects.
 */
export async function purgeExpired(options: {
  readonly em: EntityManager;
  readonly log: Logger;
  readonly now: () => Date;
  readonly eventRetentionDays?: number | undefined;
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
  await purge("proof_pictures", purgePictures(em));
  await purge("courier_places", purgePlaces(em));
  await purge("used_quotes", purgeUsedQuotes(em));
  await purge("payment_notices", purgeProviderEvents(em, now()));
  await purge("sign_ins", purgeSignIns(em));
  await purge("mails", purgeMails(em));
  await purge("recipient_notices", purgeRecipientMails(em));
  await purge("usage", purgeReports(em));
  await purge("requests", purgeRequests(em));
  await purge("test_data", purgeTestData(em, now()));
  if (days !== undefined) await purge("events", purgeEvents(em, days));
  return PURGE_MS;
}

/** Interval of checking for secrets that a process without an encryption key has stored, in milliseconds. */
const SEAL_MS = 10 * 60 * 1_000;

/**
 * Creates the work that encrypts secrets that are stored as plain text or with an earlier key, and
 * converts opt-outs that were stored without a key. The first run also logs how secrets are stored. It
 * leaves opt-outs to replicas of an earlier release, which are about to be replaced. The work returns
 * the next pause in milliseconds and never rejects.
 */
export function createSealSecrets(em: EntityManager, secretSeal: SecretSeal, log: Logger) {
  const { keyId } = secretSeal;
  let isFirst = true;
  return async (): Promise<number> => {
    try {
      const ofWebhooks = await sealStoredSecrets(em, secretSeal);
      const quoteKeys = await sealQuoteKeys(em, secretSeal);
      const connections = await sealConnections(em, secretSeal);
      if (!isFirst) await convertOptOuts(em);
      const count = {
        ...ofWebhooks,
        sealed: ofWebhooks.sealed + quoteKeys + connections.sealed,
        unopened: ofWebhooks.unopened + connections.unopened,
      };
      if (count.unopened > 0) {
        log.error(count, "no key in SECRETS_KEYS decrypts some of the stored secrets");
      } else if (keyId === undefined) {
        if (isFirst && count.webhooks > 0) log.warn(count, NOT_SEALED);
      } else if (isFirst || count.sealed > 0) {
        log.info({ ...count, keyId }, "the first key in SECRETS_KEYS encrypts all secrets");
      }
    } catch (error) {
      log.warn({ err: error }, "secrets could not be encrypted");
    }
    isFirst = false;
    return SEAL_MS;
  };
}

const NOT_SEALED = "webhook secrets are stored unencrypted: set SECRETS_KEYS to encrypt them";
