import type { EntityManager } from "../../db/orm.ts";
import { ADD_DELIVERY_JOB } from "../events/fan-out.ts";

/** What such a job knows. */
export interface DeliverJob {
  readonly workspace: number;
  readonly delivery: number;
  /** Which attempt it is to make, from 1. */
  readonly attempt: number;
}

/** Enqueues, in the caller's transaction, the next attempt at a delivery that is written already. */
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
