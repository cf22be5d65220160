import type { EntityManager } from "../../db/orm.ts";
import { deleteInBatches, runStatement } from "../../db/statement.ts";
import { hashKey } from "../../domain/secret-key.ts";
import { SESSION_IDLE } from "./session.entity.ts";

/** Ends the session with a token. Returns whether the session existed. */
export async function endSessionOf(em: EntityManager, token: string): Promise<boolean> {
  const sql = "delete from session where hash = $1 returning 1";
  return (await runStatement(em, sql, [hashKey(token)])).length > 0;
}

/**
 * Tables to delete from. Links come first: if a link is used before it is deleted, the resulting session is still
 * deleted.
 */
const TABLES = ["sign_in_link", "session"] as const;

/**
 * Ends a former member's sessions and unused links for a workspace, in the caller's transaction. They stay invalid for
 * the workspace if the person joins again. They remain valid for the person's other workspaces.
 */
export async function endSignInsOfMember(tx: EntityManager, personId: number, workspaceId: number): Promise<void> {
  for (const table of TABLES) {
    await runStatement(
      tx,
      `delete from ${table} where person_id = $1 and (workspace_id = $2 or workspace_id is null
         and not exists (select from membership where person_id = $1)
         and not exists (
           select from operator join person on lower(person.email) = lower(operator.email)
           where person.id = $1 and operator.kind = 'person' and operator.revoked_at is null))`,
      [personId, workspaceId],
    );
    await runStatement(
      tx,
      `update ${table} set left_workspaces = left_workspaces || $2::bigint
       where person_id = $1 and workspace_id is null and $2::bigint <> all (left_workspaces)`,
      [personId, workspaceId],
    );
  }
}

/**
 * Ends an operator's sessions and links for the platform, in the caller's transaction. They stay invalid if the
 * person becomes an operator again. Sessions and links that are bound to a workspace never applied to the platform.
 */
export async function endSignInsOfOperator(tx: EntityManager, email: string): Promise<void> {
  for (const table of TABLES) {
    await runStatement(
      tx,
      `delete from ${table} using person
       where person.id = person_id and lower(person.email) = lower($1) and workspace_id is null`,
      [email],
    );
  }
}

/** Tables with a condition for expired rows. Conditions are separate, so that each uses an index. */
const EXPIRED = [
  ["sign_in_link", "ends_at < now()"],
  ["spent_attempt", "ends_at < now()"],
  ["session", "ends_at < now()"],
  ["session", `last_seen_at < now() - ${SESSION_IDLE}`],
] as const;

/** Deletes expired sign-in links, attempts and sessions in batches. Returns the number of deleted rows. */
export async function purgeSignIns(em: EntityManager): Promise<number> {
  let count = 0;
  for (const [table, ended] of EXPIRED) {
    count += await deleteInBatches(
      em,
      `delete from ${table} where hash in (
         select hash from ${table} where ${ended} limit $1 for update skip locked)
       returning 1`,
    );
  }
  return count;
}
