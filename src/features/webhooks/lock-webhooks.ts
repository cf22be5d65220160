import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import type { WebhookKey } from "./lease-webhooks.ts";

/** `key share` keeps webhooks from being deleted, `no key update` also from being changed. */
type Strength = "key share" | "no key update";

const LOCK = `
  select from webhook
  where (workspace_id, id) in (
    select workspace, webhook from json_to_recordset($1) as key (workspace bigint, webhook text))
  order by workspace_id, id for`;

/**
 * Locks webhooks, before any of their deliveries is locked, as deleting a webhook does, and with the
 * final strength at once: a different order, or an upgrade later, could deadlock.
 */
export async function lockWebhooks(
  tx: EntityManager,
  webhooks: readonly WebhookKey[],
  strength: Strength,
): Promise<void> {
  const keys = webhooks.map(({ workspace, webhook }) => ({ workspace, webhook }));
  await runStatement(tx, `${LOCK} ${strength}`, [JSON.stringify(keys)]);
}
