import type { EntityManager } from "../../db/orm.ts";

/**
 * Locks the memberships of a workspace until the transaction ends, so that of two changes at the same
 * time the second sees what the first has left.
 */
export async function lockMembers(tx: EntityManager, workspaceId: number): Promise<void> {
  await tx.execute("select pg_advisory_xact_lock(hashtextextended('members', ?))", [workspaceId]);
}
