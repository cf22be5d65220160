import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { IS_LIVE } from "../workspaces/workspace.entity.ts";
import { msOf } from "./attention.ts";

/** By how much work is overdue that nobody has done, in milliseconds: it is looked for twice a second. */
const OVERDUE_MS = 10 * 60_000;
/** From how many failures in a row a payment is overdue, though it is tried again: those take ten minutes. */
const OVERDUE_FAILURES = 8;
/** How many of each kind are counted, and how many payments are named. */
const MAX_COUNTED = 10_000;
const MAX_NAMED = 20;

/** How much of the work on payments is overdue, each up to 10,000. */
export interface OverdueWork {
  /** Payments of which their provider could not be asked, or did not do what was to be done. */
  readonly payments: number;
  readonly notices: number;
  readonly accounts: number;
}

export interface OverduePayment {
  readonly workspace: number;
  readonly shipment: string;
  readonly failures: number;
  /** In milliseconds since the epoch. */
  readonly dueAt: number;
}

const IS_OVERDUE = `
  due_at is not null and (due_at <= $1 or failures >= ${OVERDUE_FAILURES})
    and ${IS_LIVE}`;

const NAMED = `
  select workspace_id::float8 as workspace, shipment_reference as shipment, failures, ${msOf("due_at")} as "dueAt"
  from provider_payment where ${IS_OVERDUE}
  order by due_at, workspace_id, shipment_reference limit ${MAX_NAMED}`;

/** Counts what is overdue in a table, but for test mode; each is asked alone, since a distributed database keeps them apart. */
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

/** Counts the work on payments of all workspaces that is overdue; that of test mode wakes nobody. */
export async function countOverdueWork(em: EntityManager, now: Date): Promise<OverdueWork> {
  const before = [overdueSince(now)];
  const counts: number[] = [];
  for (const sql of COUNTS) {
    const [row] = await runStatement<{ count: number }>(em, sql, before);
    counts.push(row!.count);
  }
  const [payments, notices, accounts] = counts;
  return { payments: payments!, notices: notices!, accounts: accounts! };
}

/** Names payments of any workspaces that are overdue, 20 at most, those that are due first. */
export function loadOverduePayments(em: EntityManager, now: Date): Promise<OverduePayment[]> {
  return runStatement<OverduePayment>(em, NAMED, [overdueSince(now)]);
}

function overdueSince(now: Date): string {
  return new Date(now.getTime() - OVERDUE_MS).toISOString();
}
