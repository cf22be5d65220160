import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { IS_LIVE } from "../workspaces/workspace.entity.ts";
import { msOf } from "./attention.ts";

/**
 * Time after its due time at which a task is overdue, in milliseconds. Workers normally start tasks within a second.
 */
const OVERDUE_MS = 10 * 60_000;
/** Number of consecutive failures after which a payment is overdue. This many retries take about ten minutes. */
const OVERDUE_FAILURES = 8;
/** Maximum number of items that are counted per kind. */
const MAX_COUNTED = 10_000;
const MAX_LISTED = 20;

/** Number of overdue tasks by kind, up to 10,000 each. */
export interface OverdueWork {
  /** Payments whose provider was unreachable or did not complete an operation. */
  readonly payments: number;
  readonly events: number;
  readonly accounts: number;
}

export interface OverduePayment {
  readonly workspace: number;
  readonly shipment: string;
  readonly failures: number;
  /** Time of the next poll, in milliseconds since the epoch. */
  readonly dueAt: number;
}

const IS_OVERDUE = `
  due_at is not null and (due_at <= $1 or failures >= ${OVERDUE_FAILURES})
    and ${IS_LIVE}`;

const LIST = `
  select workspace_id::float8 as workspace, shipment_reference as shipment, failures, ${msOf("due_at")} as "dueAt"
  from provider_payment where ${IS_OVERDUE}
  order by due_at, workspace_id, shipment_reference limit ${MAX_LISTED}`;

/**
 * Returns SQL that counts the overdue rows of a table. Each table has its own query, because a
 * distributed database stores the tables separately.
 */
function countOf(table: string, condition: string): string {
  return `
    select count(*)::float8 as count
    from (select 1 from ${table} where ${condition} limit ${MAX_COUNTED}) as overdue`;
}

const COUNTS = [
  countOf("provider_payment", IS_OVERDUE),
  countOf("payment_notice", "due_at <= $1 and live"),
  countOf("payment_connection", "check_at <= $1 and live"),
];

/** Counts the overdue payment tasks of all live workspaces. Omits test mode, which must not alert operators. */
export async function countOverdueWork(em: EntityManager, now: Date): Promise<OverdueWork> {
  const before = [overdueSince(now)];
  const counts: number[] = [];
  for (const sql of COUNTS) {
    const [row] = await runStatement<{ count: number }>(em, sql, before);
    counts.push(row!.count);
  }
  const [payments, events, accounts] = counts;
  return { payments: payments!, events: events!, accounts: accounts! };
}

/** Lists up to 20 overdue payments of all live workspaces, earliest due time first. */
export function loadOverduePayments(em: EntityManager, now: Date): Promise<OverduePayment[]> {
  return runStatement<OverduePayment>(em, LIST, [overdueSince(now)]);
}

function overdueSince(now: Date): string {
  return new Date(now.getTime() - OVERDUE_MS).toISOString();
}
