import type { Logger } from "pino";
import type { EntityManager } from "../db/orm.ts";
import type { SecretSeal } from "../domain/secret-seal.ts";
import { sealConnections } from "../features/payments/seal-connections.ts";
import { convertOptOuts } from "../features/recipients/recipient-opt-out.entity.ts";
import { sealQuoteKeys } from "../features/quotes/quote-keys.ts";
import { sealStoredSecrets } from "../features/webhooks/webhook-secrets.ts";
import type { Instruments } from "./instruments.ts";
import { type Purge, type Purged, type PurgeOptions, PURGES } from "./purges.ts";

const PURGE_MS = 10 * 60 * 1_000;

/** Deletes expired data. Returns the next pause in milliseconds. Never rejects. */
export async function purgeExpired({
  log,
  countPurge,
  ...options
}: PurgeOptions & {
  readonly log: Logger;
  readonly countPurge: Instruments["countPurge"];
}): Promise<number> {
  for (const [kind, purge] of Object.entries(PURGES) as [Purged, Purge][]) {
    try {
      countPurge(kind, await purge(options));
    } catch (error) {
      countPurge(kind, undefined);
      log.warn({ err: error, kind }, "purge failed");
    }
  }
  return PURGE_MS;
}

/**
 * Interval between checks for unencrypted secrets, which processes without an encryption key store, in milliseconds.
 */
const SEAL_MS = 10 * 60 * 1_000;

/**
 * Creates the job that encrypts secrets that are stored as plain text or with an earlier key, and converts opt-outs
 * that were stored without a key. The first run also logs how secrets are stored, but does not convert opt-outs,
 * because replicas of an earlier release may still be running. The job returns the next pause in milliseconds and never
 * rejects.
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
