import type { LeasedQueue } from "../../db/leased-queue.ts";
import type { EntityManager } from "../../db/orm.ts";
import { runSlowStatement, runStatement } from "../../db/statement.ts";
import type { EventType } from "../../domain/shipment/event-type.ts";
import { type Changed, createRollUp, readEvents, startRollUp } from "./roll-up.ts";

/** Maximum number of customers that a statement counts. */
const BATCH = 200;
/** Maximum number of events whose customers one transaction counts. A merge waits for the transaction. */
const MAX_EVENTS = 500;

/** Types of all events that can change a customer, a total, or whether a shipment is paid. */
const CHANGING: readonly EventType[] = ["shipment.created", "shipment.updated", "shipment.paid", "shipment.cancelled"];

/**
 * Reads the next events, the customers of their shipments, and the customers that these shipments had before an edit. An
 * edit can move a shipment to another customer.
 */
const CHANGED = readEvents(
  MAX_EVENTS,
  `json_agg(distinct booked.customer_id) filter (where booked.customer_id is not null) as customers,
    json_agg(distinct (before.data #>> '{customer,id}')::bigint) filter (where before.number is not null) as former,
    (count(*) filter (where event.type = 'shipment.updated' and event.number > 1 and before.number is null))::float8
      as orphans`,
  `left join lateral (
    select customer_id from shipment
    where shipment.workspace_id = $1 and reference = event.subject
      and event.type in (${CHANGING.map((type) => `'${type}'`).join(", ")}) limit 1
  ) as booked on true
  left join event as before on before.workspace_id = $1 and before.subject = event.subject
    and before.number = event.number - 1 and event.type = 'shipment.updated'`,
);

const NEXT_CUSTOMERS = `
  select id::float8 as id from customer where workspace_id = $1 and id < $2::bigint
  order by customer.id desc limit ${BATCH}`;

/**
 * Locks customers, or the customers into which they were merged, until the commit. Skips customers that a purge of test
 * data is deleting: waiting could cause a deadlock, because the purge may wait for the count.
 */
const LOCK = `
  select id::float8 as id from customer
  where workspace_id = $1 and id = any ($2::bigint[] || array(
    select customer_id from customer_alias where workspace_id = $1 and id = any ($2::bigint[])))
  order by customer.id for key share skip locked`;

/**
 * Deletes figures without shipments. `limit 1` makes PostgreSQL look up the shipments of these customers instead of
 * reading all shipments.
 */
const FORGET = `
  delete from customer_figure as figure
  where workspace_id = $1 and customer_id = any ($2::bigint[]) and (
    select true from shipment
    where workspace_id = $1 and shipment.customer_id = figure.customer_id
      and (figure.name = 'last_booked_at' or currency = figure.name)
    limit 1) is null`;

/** Counts figures, and writes those that have changed. */
const COUNT = `
  insert into customer_figure (workspace_id, customer_id, name, value)
  select counted.*
  from unnest($2::bigint[]) as asked (id)
  cross join lateral (
    select workspace_id, customer_id, coalesce(currency, 'last_booked_at'),
      case when currency is null then extract(epoch from max(created_at)) * 1000
        else coalesce(sum(total_minor) filter (where payment_status = 'paid'), 0) end
    from shipment
    where workspace_id = $1 and customer_id = asked.id
    group by grouping sets ((workspace_id, customer_id), (workspace_id, customer_id, currency))
  ) as counted
  on conflict (workspace_id, customer_id, name) do update set value = excluded.value
  where customer_figure.value <> excluded.value`;

const HOLD = "select from customer_roll_up where workspace_id = $1 for update";

const ROLL_UP = {
  table: "customer_roll_up",
  workspaces: "true",
  beyondAll: String(2n ** 63n - 1n),
  maxEvents: MAX_EVENTS,
  fill,
  countChanged,
} as const;

/** Creates the queue that maintains `CustomerFigure`. */
export function createCustomerRollUpQueue(em: EntityManager): LeasedQueue {
  return createRollUp(em, ROLL_UP);
}

/**
 * Prevents the roll-up from counting a workspace's customers until the commit. Must precede locks on customers, which
 * is also the order of the roll-up.
 */
export async function holdCustomerCounts(tx: EntityManager, workspace: number): Promise<void> {
  await startRollUp(tx, ROLL_UP, workspace);
  await runStatement(tx, HOLD, [workspace]);
}

/** Counts the figures of customers again. The transaction must have called `holdCustomerCounts`. */
export async function countCustomers(
  tx: EntityManager,
  workspace: number,
  customers: readonly number[],
): Promise<void> {
  for (let from = 0; from < customers.length; from += BATCH) {
    const batch = customers.slice(from, from + BATCH);
    const locked = await runStatement<{ id: number }>(tx, LOCK, [workspace, batch]);
    const values = [workspace, locked.map(({ id }) => id)];
    await runSlowStatement(tx, COUNT, values);
    await runStatement(tx, FORGET, values);
  }
}

/** Counts the customers with the highest ids below a bound. */
async function fill(tx: EntityManager, workspace: number, before: string): Promise<string | null> {
  const next = await runStatement<{ id: number }>(tx, NEXT_CUSTOMERS, [workspace, before]);
  const ids = next.map(({ id }) => id);
  await countCustomers(tx, workspace, ids);
  return ids.length < BATCH ? null : String(ids.at(-1));
}

async function countChanged(tx: EntityManager, workspace: number, position: number): Promise<Changed> {
  const [changed] = await runStatement<ChangedCustomers>(tx, CHANGED, [workspace, position]);
  const { until, events, customers, former, orphans } = changed!;
  // Purged events may have changed any customer.
  const isKnown = events === until - position && orphans === 0;
  if (isKnown) await countCustomers(tx, workspace, [...new Set([...(customers ?? []), ...(former ?? [])])]);
  return { until, isKnown };
}

interface ChangedCustomers {
  readonly until: number;
  readonly events: number;
  /** Current customers. null if there are none. */
  readonly customers: readonly number[] | null;
  /** Customers before an edit, which may have been merged since. null if there are none. */
  readonly former: readonly number[] | null;
  /** Number of edits whose former customer is unknown, because the event before was purged. */
  readonly orphans: number;
}
