import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { EntityManager } from "../db/orm.ts";
import type { SecretSeal } from "../domain/secret-seal.ts";
import { sealStoredSecrets } from "../features/webhooks/webhook-secrets.ts";

/** How often to look for secrets that a process without the key has stored, in milliseconds. */
const SEAL_MS = 10 * 60 * 1_000;

/**
 * Seals secrets that are stored as they are, or sealed by an earlier key, until the signal aborts.
 * Without a key, says at the start that they are not sealed, if there are any.
 */
export async function sealRegularly(options: {
  readonly em: EntityManager;
  readonly log: Logger;
  readonly secretSeal: SecretSeal;
  readonly shutdownSignal: AbortSignal;
}): Promise<void> {
  const { em, log, secretSeal, shutdownSignal } = options;
  const { keyId } = secretSeal;
  for (let isFirst = true; !shutdownSignal.aborted; isFirst = false) {
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
    await sleep(SEAL_MS, undefined, { ref: false, signal: shutdownSignal }).catch(() => undefined);
  }
}

const NOT_SEALED = "secrets of webhooks are stored as they are: SECRETS_KEYS would seal them";
