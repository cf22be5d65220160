import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import type { DeliveryOutcome } from "./attempt-delivery.ts";
import { lockWebhooks } from "./lock-webhooks.ts";

/**
 * Deliveries that ended meanwhile, by another process, stay as they are. They are locked and looked at one
 * by one, since the index of those that are pending, in a join, may be read as a whole. The condition on
 * the attempts always holds: with it PostgreSQL expects one row instead of 100.
 */
const END = `
  with outcome as materialized (
    select outcome.* from json_to_recordset($1) as outcome (
      workspace bigint, id bigint, attempts int, status text, ended_at timestamptz,
      number int, started_at timestamptz, duration_ms int, response_status int, answer text)
    cross join lateral (
      select status, attempts from webhook_delivery
      where workspace_id = outcome.workspace and webhook_delivery.id = outcome.id limit 1 for update
    ) as delivery
    where outcome.attempts between 0 and 2147483647
      and delivery.status = 'pending' and delivery.attempts = outcome.attempts
  ), ended as (
    update webhook_delivery as delivery
    set status = outcome.status, attempts = coalesce(outcome.number, outcome.attempts),
      next_attempt_at = null, ended_at = outcome.ended_at
    from outcome
    where delivery.workspace_id = outcome.workspace and delivery.id = outcome.id
    returning outcome.*
  )
  insert into webhook_attempt
    (workspace_id, delivery_id, number, started_at, duration_ms, status, answer)
  select workspace, id, number, started_at, duration_ms, response_status, answer
  from ended where number is not null`;

/**
 * Ends deliveries that succeeded, with their attempts, and those that are given up, in the caller's
 * transaction. Nothing changes for their webhooks.
 */
export async function endDeliveries(
  tx: EntityManager,
  outcomes: readonly DeliveryOutcome[],
  endedAt: Date,
): Promise<void> {
  await lockWebhooks(
    tx,
    outcomes.map(({ delivery }) => delivery),
    "key share",
  );
  const rows = outcomes.map((outcome) => endRow(outcome, endedAt));
  await runStatement(tx, END, [JSON.stringify(rows)]);
}

function endRow({ delivery, attempt }: DeliveryOutcome, endedAt: Date) {
  const { workspace, id, attempts } = delivery;
  const end = { workspace, id, attempts, ended_at: endedAt };
  if (attempt === undefined) return { ...end, status: "failed" };
  const { startedAt, result } = attempt;
  return {
    ...end,
    status: "delivered",
    number: attempts + 1,
    started_at: startedAt,
    duration_ms: result.durationMs,
    response_status: result.status,
    answer: result.status === undefined ? undefined : result.answer,
  };
}
