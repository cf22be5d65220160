import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";

/** The webhook deliveries of all workspaces that have not ended. */
export interface WebhookBacklog {
  /** How many, up to 1,000,000. */
  readonly pending: number;
  /** When the oldest was made, in milliseconds since the epoch; null when there is none. */
  readonly oldestMs: number | null;
}

/** The oldest is found webhook by webhook, through the index of deliveries by status. */
const READ = `
  select (
    select count(*) from (
      select from webhook_delivery where status = 'pending' limit 1000000
    ) as pending
  )::float8 as pending,
  (
    select (extract(epoch from min(oldest.created_at)) * 1000)::float8
    from webhook cross join lateral (
      select created_at from webhook_delivery
      where workspace_id = webhook.workspace_id and webhook_id = webhook.id
        and status = 'pending'
      order by id limit 1
    ) as oldest
  ) as "oldestMs"`;

/** Reads how many deliveries wait, and since when. */
export async function readBacklog(em: EntityManager): Promise<WebhookBacklog> {
  const [backlog] = await runStatement<WebhookBacklog>(em.fork(), READ, []);
  return backlog!;
}
