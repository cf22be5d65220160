import type { EntityManager } from "../../db/orm.ts";
import type { TableRows } from "../../db/servers.ts";
import { serversOf } from "../../db/servers-of.ts";
import { runStatement } from "../../db/statement.ts";
import { IS_LIVE } from "../workspaces/workspace.entity.ts";

export interface WebhookBacklog {
  /** Number of pending deliveries, up to a limit. */
  readonly pending: number;
  /** Creation time of the oldest pending delivery, in milliseconds since the epoch, or null. */
  readonly oldestMs: number | null;
}

/** Selects the oldest pending delivery. Reads only one entry per webhook from the index by status. */
const OLDEST = `
  select (extract(epoch from min(oldest.created_at)) * 1000)::float8
  from webhook join workspace on workspace.id = webhook.workspace_id and workspace.twin_of is null
  cross join lateral (
    select created_at from webhook_delivery
    where workspace_id = webhook.workspace_id and webhook_id = webhook.id
      and status = 'pending'
    order by id limit 1
  ) as oldest`;

const PENDING = `
  select 1 from webhook_delivery
  where status = 'pending'
    and ${IS_LIVE}
  limit 1000000`;

const BACKLOG = `
  select (select count(*) from (${PENDING}) as pending)::float8 as pending, (${OLDEST}) as "oldestMs"`;

/** Counts pending deliveries, up to 1,000,000, and returns the time of the oldest. */
export async function countBacklog(em: EntityManager): Promise<WebhookBacklog> {
  const [backlog] = await runStatement<WebhookBacklog>(em, BACKLOG);
  return backlog!;
}

/** Tables that grow with the use of the service. */
const GROWING_TABLES = ["shipment", "event", "webhook_delivery", "webhook_attempt", "kept_answer"];

/** Returns the approximate number of rows in growing tables without reading the tables. */
export async function loadTableRows(em: EntityManager): Promise<TableRows[]> {
  return (await serversOf(em)).countRows(GROWING_TABLES);
}
