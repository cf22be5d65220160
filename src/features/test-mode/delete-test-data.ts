import { isForeignKeyViolation } from "../../db/database-error.ts";
import type { EntityManager } from "../../db/orm.ts";
import { deleteInBatches, runStatement } from "../../db/statement.ts";
import { findTestTime } from "../workspaces/test-clock.ts";
import { releaseClock, type TestModeFunctions } from "./test-clocks.ts";
import { COURIER_KEY, indexPredicate } from "../shipments/shipment.entity.ts";
import { watchTwin } from "../slots/slots.ts";

const MAX_MS = 5_000;
const TEST_DATA_MS = 30 * 24 * 60 * 60_000;
/** Maximum number of rows per statement, so that transactions stay short. */
const BATCH = 500;

const OLD_SHIPMENTS = `
  select reference from shipment
  where workspace_id = $1 and ${indexPredicate("shipment_by_age")} and created_at < $2
  order by created_at, reference limit ${BATCH}`;

/**
 * Statements that delete a batch of rows of workspace `$1` from before `$2`, and return a row for each. Referencing
 * tables come first. Payments and provider data are found through the shipment, so they are deleted together with it. A
 * checkout that is still open expires at the provider within a day.
 */
const DELETIONS = [
  deletionOf("kept_answer", "key", "created_at"),
  deletionOf("used_quote", "quote_id", "used_at"),
  deletionOf("webhook_delivery", "id", "created_at"),
  `with oldest as (
     select subject, number, created_at from event where workspace_id = $1
     order by event.position limit ${BATCH}
   )
   delete from event using oldest
   where event.workspace_id = $1 and event.subject = oldest.subject
     and event.number = oldest.number and oldest.created_at < $2
   returning 1`,
  // Deletes the events of old shipments too: after a move of the clock, they can follow events with later times.
  `with its_events as (
     delete from event
     where workspace_id = $1 and subject in (${OLD_SHIPMENTS}) and created_at < $2
   ), paid as (
     delete from payment
     where workspace_id = $1 and shipment_reference in (${OLD_SHIPMENTS})
   ), at_provider as (
     delete from provider_payment
     where workspace_id = $1 and shipment_reference in (${OLD_SHIPMENTS})
   )
   delete from shipment
   where workspace_id = $1 and reference in (${OLD_SHIPMENTS})
   returning 1`,
  `delete from customer
   where workspace_id = $1 and id in (
     select id from customer as unused
     where workspace_id = $1 and created_at < $2
       and not exists (
         select from shipment
         where workspace_id = $1 and customer_id = unused.id)
     limit ${BATCH})
   returning 1`,
  `with unused as (
     select id from courier
     where workspace_id = $1 and created_at < $2
       and not exists (
         select from shipment
         where workspace_id = $1 and ${COURIER_KEY} = courier.id and ${indexPredicate("shipment_by_courier")})
       and not exists (
         select from courier_link
         where workspace_id = $1 and courier_id = courier.id and created_at >= $2)
     limit ${BATCH}
   ), its_links as (
     delete from courier_link
     where workspace_id = $1 and courier_id in (select id from unused)
   )
   delete from courier
   where workspace_id = $1 and id in (select id from unused)
   returning 1`,
] as const;

/** Makes the roll-up count the figures of all customers again, because deletions write no events. */
const RECOUNT_CUSTOMERS = "delete from customer_roll_up where workspace_id = $1";

function deletionOf(table: string, key: string, time: string): string {
  return `
    delete from ${table}
    where workspace_id = $1 and ${key} in (
      select ${key} from ${table} where workspace_id = $1 and ${time} < $2 limit ${BATCH})
    returning 1`;
}

/**
 * Deletes the data of a test twin from before a time. Each batch has its own transaction.
 *
 * @param isOver returns whether to stop early
 * @returns the number of deleted rows, and whether all data was deleted
 */
async function deleteBefore(
  em: EntityManager,
  workspace: number,
  before: Date,
  isOver: () => boolean,
): Promise<{ readonly rows: number; readonly complete: boolean }> {
  let rows = 0;
  try {
    for (const sql of DELETIONS) {
      for (let last = BATCH; last === BATCH; rows += last) {
        if (isOver()) return { rows, complete: false };
        last = await deleteSome(em, sql, [workspace, before]);
      }
    }
  } finally {
    if (rows > 0) await runStatement(em, RECOUNT_CUSTOMERS, [workspace]);
  }
  return { rows, complete: true };
}

/**
 * Maximum number of attempts at a batch. Concurrent calls can reference its rows, such as a booking for a customer.
 */
const MAX_TRIES = 10;

async function deleteSome(em: EntityManager, sql: string, values: readonly unknown[]): Promise<number> {
  for (let tries = 1; ; tries++) {
    try {
      return (await runStatement(em, sql, values)).length;
    } catch (error) {
      if (!isForeignKeyViolation(error) || tries === MAX_TRIES) throw error;
    }
  }
}

export const deleteTestData: TestModeFunctions["deleteTestData"] = async (
  _request,
  { caller: { workspaceId } },
  { em, now, testTimes },
) => {
  const endMs = performance.now() + MAX_MS;
  const isOver = () => performance.now() >= endMs;
  const [clock] = await runStatement<{ latestMs: number }>(em, LATEST, [workspaceId]);
  const before = new Date(Math.max(now().getTime(), (clock?.latestMs ?? 0) + 1));
  const { complete } = await deleteBefore(em, workspaceId, before, isOver);
  if (complete) {
    await deleteProviderEvents(em, workspaceId, now());
    await watchTwin(em, workspaceId);
    // A booking in flight may still use the frozen time. The next call deletes it.
    await releaseClock({ em, now }, workspaceId);
    testTimes.set(workspaceId, undefined);
  }
  return { complete };
};

/** Sets the time up to which provider events count as read, so that earlier events are not listed again. */
const READ_UNTIL = `
  update payment_connection set heard_until = $2 where workspace_id = $1 and account is not null
  returning account`;

/** Deletes processed events. Another twin with the same account may still need pending events. */
const DELETE_EVENTS = `
  delete from payment_notice where (provider, id) in (
    select provider, id from payment_notice
    where account = $1 and not live and due_at is null limit $2 for update skip locked)
  returning 1`;

async function deleteProviderEvents(em: EntityManager, twin: number, now: Date): Promise<void> {
  const heard = [twin, now.toISOString()];
  const [connection] = await runStatement<{ account: string }>(em, READ_UNTIL, heard);
  if (connection !== undefined) await deleteInBatches(em, DELETE_EVENTS, [connection.account]);
}

const LATEST = `
  select (extract(epoch from latest_at) * 1000)::float8 as "latestMs"
  from test_clock where workspace_id = $1`;

/** Selects test twins whose oldest event or shipment is too old. Finds each by an index. */
const TWINS_WITH_OLD_DATA = `
  select feed.workspace_id::float8 as id
  from feed join workspace on workspace.id = feed.workspace_id and workspace.twin_of is not null
  left join lateral (
    select created_at from event where event.workspace_id = feed.workspace_id
    order by position limit 1
  ) as oldest_event on true
  left join lateral (
    select created_at from shipment
    where shipment.workspace_id = feed.workspace_id and ${indexPredicate("shipment_by_age")}
    order by created_at, reference limit 1
  ) as oldest_shipment on true
  where least(oldest_event.created_at, oldest_shipment.created_at) < $1`;

/** Selects frozen clocks that have not moved for a long time. Their test data would otherwise be kept forever. */
const OLD_CLOCKS = `
  select workspace_id::float8 as id from test_clock where moved_at < $1 and frozen_at is not null`;

/**
 * Deletes the data of test twins that is older than 30 days, by the twin's clock if that is behind.
 * Clocks that have not moved for 30 days follow real time again.
 *
 * @returns the number of deleted rows
 */
export async function purgeTestData(em: EntityManager, now: Date): Promise<number> {
  const before = new Date(now.getTime() - TEST_DATA_MS);
  const twins = await runStatement<{ id: number }>(em, TWINS_WITH_OLD_DATA, [before]);
  let count = 0;
  for (const { id } of twins) {
    const frozenAt = await findTestTime(em, id);
    const time = new Date(Math.min(now.getTime(), Number(frozenAt ?? now)) - TEST_DATA_MS);
    count += (await deleteBefore(em, id, time, () => false)).rows;
  }
  for (const { id } of await runStatement<{ id: number }>(em, OLD_CLOCKS, [before])) {
    await releaseClock({ em, now: () => now }, id, before);
  }
  return count;
}
