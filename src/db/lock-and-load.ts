import type { EntityManager } from "./orm.ts";
import { runStatement } from "./statement.ts";
import type { Transaction } from "./transaction.ts";

const LOCK = "select pg_advisory_xact_lock(hashtextextended($1, $2))";

/**
 * Locks a limited resource, such as the webhooks of a workspace, until the transaction ends, then loads
 * what counts toward the limit. Every transaction that adds to the resource must call this function.
 *
 * - One server: `load` runs in separate statements after the lock. At the isolation level `read committed`
 *   they see everything that earlier holders of the lock committed, so concurrent additions count each other.
 * - A cluster: a transaction of `em` locks on the coordinator, and a group commit locks on the node of the
 *   workspace. While a workspace is moving or a process cannot reach its node, two group commits may
 *   lock on different servers for some seconds and together exceed the limit.
 * - Deadlocks: acquire this lock before row locks and before the locks of people and the audit log. A transaction
 *   locks one resource, or the same resource of several workspaces in the order of their ids (`loadByOwner`).
 *
 * @param owner id of the workspace, or 0
 */
export async function lockAndLoad<T>(
  tx: EntityManager | Transaction,
  resource: string,
  owner: number,
  load: () => Promise<T>,
): Promise<T> {
  // A pipeline sends the lock together with the first statement of `load`.
  if ("send" in tx) void tx.send(LOCK, [resource, owner]);
  else await runStatement(tx, LOCK, [resource, owner]);
  return load();
}
