import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import type { SecretSeal } from "../../domain/secret-seal.ts";
import type { WebhookKey, WebhookSecret } from "./webhook.entity.ts";

/** Returns the stored form of a secret without an expiry. */
export function storedSecret(seal: SecretSeal, key: WebhookKey, secret: string): WebhookSecret {
  return { secret: seal.seal(secret, sealContext(key)), endsAtMs: null };
}

export function activeSecrets(secrets: readonly WebhookSecret[], now: Date): WebhookSecret[] {
  return secrets.filter(({ endsAtMs }) => endsAtMs === null || endsAtMs > now.getTime());
}

/** Decrypts the given secrets of a webhook. Returns `undefined` if one cannot be decrypted. */
export function openSecrets(
  seal: SecretSeal,
  key: WebhookKey,
  stored: readonly WebhookSecret[],
): WebhookSecret[] | undefined {
  const opened = stored.flatMap(({ secret, endsAtMs }) => {
    const open = seal.open(secret, sealContext(key));
    return open === undefined ? [] : [{ secret: open, endsAtMs }];
  });
  return opened.length === stored.length ? opened : undefined;
}

function sealContext({ workspace, webhook }: WebhookKey): string {
  return `webhook ${workspace} ${webhook}`;
}

const BATCH = 500;

const READ = `
  select workspace_id::float8 as workspace, id as webhook, secrets::text as stored from webhook
  where (workspace_id, id) > ($1, $2) order by workspace_id, id limit $3`;

/** Replaces secrets, unless another process has rotated or sealed them. */
const WRITE = `
  update webhook set secrets = $4
  where workspace_id = $1 and id = $2 and secrets = $3::jsonb returning 1`;

/**
 * Seals all webhook secrets that are stored in plain text or sealed with an earlier key.
 *
 * @returns the number of webhooks in total, of webhooks that were sealed, and of webhooks whose secrets cannot be
 *   decrypted
 */
export async function sealStoredSecrets(em: EntityManager, seal: SecretSeal) {
  const count = { webhooks: 0, sealed: 0, unopened: 0 };
  let last: WebhookKey = { workspace: 0, webhook: "" };
  for (;;) {
    const read = [last.workspace, last.webhook, BATCH];
    const rows = await runStatement<WebhookKey & { readonly stored: string }>(em, READ, read);
    count.webhooks += rows.length;
    for (const { stored, ...key } of rows) {
      const secrets = JSON.parse(stored) as WebhookSecret[];
      if (secrets.every(({ secret }) => seal.isCurrent(secret))) continue;
      const opened = openSecrets(seal, key, secrets);
      if (opened === undefined) count.unopened += 1;
      else {
        const sealed = opened.map((it) => ({
          ...it,
          secret: seal.seal(it.secret, sealContext(key)),
        }));
        const values = [key.workspace, key.webhook, stored, JSON.stringify(sealed)];
        count.sealed += (await runStatement(em, WRITE, values)).length;
      }
    }
    if (rows.length < BATCH) return count;
    last = rows.at(-1)!;
  }
}
