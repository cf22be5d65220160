import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import type { WebhookKey } from "./lease-webhooks.ts";

/** `key share` keeps webhooks from being deleted, `no key update` also from being changed. */
type Strength = "key share" | "no key update";

/** In one order, so that transactions do not wait for each other in a circle. */
const lockSql = (strength: Strength) => `
  with asked as materialized (
    select distinct workspace, webhook
    from json_to_recordset($1) as key (workspace bigint, webhook text)
    order by workspace, webhook
  )
  select from asked cross join lateral (
    select from webhook where workspace_id = asked.workspace and id = asked.webhook
    limit 1 for ${strength}
  ) as locked`;

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
  await runStatement(tx, lockSql(strength), [JSON.stringify(keys)]);
}
