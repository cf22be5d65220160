import { announceChange } from "../../db/announce-change.ts";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";

/**
 * The `changed_at` of a key that changes: later than at its last change, even if the transaction
 * began before that one. Replicas hold what they have read unless a later change is reported.
 */
export const NEXT_CHANGE = "greatest(clock_timestamp(), changed_at + interval '1 millisecond')";

/**
 * Makes every process read the keys of a workspace anew, within a second: what is cached with them
 * (the workspace's limits, its suspension) changes in the caller's transaction.
 */
export async function evictKeys(tx: EntityManager, workspaceId: number): Promise<void> {
  await runStatement(tx, CHANGE_KEYS, [workspaceId]);
  await announceChange(tx);
}

const CHANGE_KEYS = `
  update api_key set changed_at = ${NEXT_CHANGE}
  where workspace_id = $1 and (ends_at is null or ends_at > now())`;
