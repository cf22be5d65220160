import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";

/** Links first: one that is used meanwhile has then become a session, which is found. */
const TABLES = ["sign_in_link", "session"] as const;

/**
 * Ends, in the caller's transaction, what somebody who has left a workspace could still act there by,
 * also should they become a member again: sessions and unused links. Those that open more than this
 * workspace stay for the rest of it, as long as there is any.
 */
export async function endSignInsOfMember(
  tx: EntityManager,
  personId: number,
  workspaceId: number,
): Promise<void> {
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
 * Ends, in the caller's transaction, what a person with an email could still act for the platform by,
 * also should they become an operator again. What is bound to a workspace never could.
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
