import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { refuse } from "../../domain/refusal.ts";
import type { SecretSeal } from "../../domain/secret-seal.ts";
import { Webhook } from "./webhook.entity.ts";

/** What the RPCs that change webhooks need. */
export interface WebhookDeps {
  readonly em: EntityManager;
  readonly now: () => Date;
  /** Whether webhooks may go to this machine by plain http, for local development. */
  readonly allowLoopbackHttp: boolean;
  readonly secretSeal: SecretSeal;
}

/** `no key update`, so that deliveries that refer to the webhook can be inserted meanwhile. */
const LOCK_WEBHOOK = "select from webhook where workspace_id = $1 and id = $2 for no key update";

/**
 * A webhook of the workspace, with its row locked if `lock` is given.
 *
 * @throws Refusal WEBHOOK_NOT_FOUND, the same for an unknown webhook and one of another workspace
 */
export async function loadWebhook(
  em: EntityManager,
  workspace: number,
  id: string,
  lock?: "lock",
): Promise<Webhook> {
  if (lock !== undefined) await runStatement(em, LOCK_WEBHOOK, [workspace, id]);
  const webhook = await em.findOne(Webhook, { workspace, id });
  if (webhook === null) throw refuse("WEBHOOK_NOT_FOUND");
  return webhook;
}
