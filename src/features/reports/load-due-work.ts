import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { IS_LIVE } from "../workspaces/workspace.entity.ts";

/** Due work of a queue in all live workspaces. */
export interface DueWork {
  readonly queue: string;
  /** Number of due items, up to 10,000. */
  readonly count: number;
  /** Time at which the oldest of these items became due, in milliseconds since the epoch. null if none is due. */
  readonly oldestMs: number | null;
}

/** Reads the due deliveries of each webhook from the index. `offset 0` prevents a read of the whole table. */
const DELIVERIES = `
  select due from webhook join workspace on workspace.id = webhook.workspace_id and workspace.twin_of is null
  cross join lateral (
    select next_attempt_at as due from webhook_delivery
    where workspace_id = webhook.workspace_id and webhook_id = webhook.id
      and status = 'pending' and next_attempt_at <= now()
    order by next_attempt_at offset 0
  ) as delivery`;

/** Returns SQL for the due items of a table, earliest first. */
const dueIn = (table: string, due: string, condition: string) =>
  `select ${due} as due from ${table} where ${condition} and ${due} <= now() order by ${due}`;

/** SQL for due items, by queue. */
const DUE = {
  webhooks: DELIVERIES,
  sign_in_mails: dueIn("mail", "next_attempt_at", "state = 'waiting'"),
  recipient_mails: dueIn("recipient_notice", "next_attempt_at", "state = 'waiting'"),
  courier_mails: dueIn("courier_link", "next_attempt_at", "state = 'waiting'"),
  notified_payments: dueIn("provider_payment", "due_at", `told and leased_until is null and ${IS_LIVE}`),
  payments: dueIn("provider_payment", "due_at", `leased_until is null and ${IS_LIVE}`),
  payment_events: dueIn("payment_notice", "due_at", "live"),
  payment_accounts: dueIn("payment_connection", "check_at", "live"),
  pictures: dueIn("proof_picture", "moves_at", `content is not null and ${IS_LIVE}`),
};

/**
 * Counts due work by queue. Each queue has its own statement, because a distributed database stores tables
 * separately.
 *
 * @param movesPictures whether pictures are moved to a bucket. If false, no picture is due
 */
export async function loadDueWork(em: EntityManager, movesPictures: boolean): Promise<DueWork[]> {
  const work: DueWork[] = [];
  for (const [queue, sql] of Object.entries(DUE)) {
    if (queue === "pictures" && !movesPictures) continue;
    const [row] = await runStatement<Omit<DueWork, "queue">>(
      em,
      `select count(*)::float8 as count, (extract(epoch from min(due)) * 1000)::float8 as "oldestMs"
       from (${sql} limit 10000) as due`,
    );
    work.push({ queue, ...row! });
  }
  return work;
}
