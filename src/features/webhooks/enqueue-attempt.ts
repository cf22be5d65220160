import type { EntityManager } from "../../db/orm.ts";
import { ADD_DELIVERY_JOB } from "../events/fan-out.ts";

/** The payload of a job that makes one attempt at a delivery. */
export interface DeliverJob {
  readonly workspace: number;
  readonly delivery: number;
  /** The number of the attempt, from 1. */
  readonly attempt: number;
}

/**
 * Enqueues the next attempt at a delivery, in the caller's transaction. The delivery must have been
 * flushed.
 *
 * @param runAt null for at once
 */
export async function enqueueAttempt(
  tx: EntityManager,
  workspace: number,
  delivery: number,
  runAt: Date | null,
): Promise<void> {
  await tx.execute(
    `select ${ADD_DELIVERY_JOB}
     from (select *, ?::timestamptz as run_at from webhook_delivery
           where workspace_id = ? and id = ?) as delivered
     join webhook on webhook.workspace_id = delivered.workspace_id
                 and webhook.id = delivered.webhook_id`,
    [runAt, workspace, delivery],
  );
}
