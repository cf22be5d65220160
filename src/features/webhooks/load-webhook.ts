import type { EntityManager } from "../../db/orm.ts";
import { refuse } from "../../domain/refusal.ts";
import { Webhook } from "./webhook.entity.ts";

/**
 * A webhook of the workspace, with its row locked if `lock` is given.
 *
 * @throws Refusal WEBHOOK_NOT_FOUND, the same for an unknown webhook and one of another workspace
 */
export async function findWebhook(
  em: EntityManager,
  workspace: number,
  id: string,
  lock?: "lock",
): Promise<Webhook> {
  if (lock !== undefined) await em.execute(LOCK_WEBHOOK, [workspace, id]);
  const found = await em.findOne(Webhook, { workspace, id });
  if (found === null) throw refuse("WEBHOOK_NOT_FOUND", "There is no such webhook.");
  return found;
}

/** `no key update`, so that deliveries that refer to the webhook can be inserted meanwhile. */
const LOCK_WEBHOOK = "select from webhook where workspace_id = ? and id = ? for no key update";
