import { randomBytes } from "node:crypto";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { hashKey } from "../../domain/secret-key.ts";

/**
 * How many links of one person, for one workspace, work at the same time; beyond that the oldest ends
 * at once.
 */
const MAX_LINKS = 5;

/** A link that is to be made. */
interface NewLink {
  readonly personId: number;
  /**
   * The only workspace that the session may act in; null for all that the person may do. Whoever makes a
   * link can use it, so that the one of a workspace's admin must not open other workspaces of the person,
   * nor the platform.
   */
  readonly workspaceId: number | null;
  /** Who makes it, for the audit log; null for the person themselves. */
  readonly madeBy: string | null;
}

/**
 * Adds a link by which a person can sign in, once, within 15 minutes, in the caller's transaction.
 *
 * @returns path and fragment of the link. The token is in the fragment, which browsers send nobody, so
 * that it is in no log, and a program that looks at links does not use it up
 */
export async function addSignInLink(
  tx: EntityManager,
  { personId, workspaceId, madeBy }: NewLink,
): Promise<string> {
  const token = randomBytes(32).toString("base64url");
  await runStatement(
    tx,
    `delete from sign_in_link where hash = any (array(
       select hash from sign_in_link
       where person_id = $1 and workspace_id is not distinct from $3::bigint
       order by created_at desc, hash offset $2))`,
    [personId, MAX_LINKS - 1, workspaceId],
  );
  await runStatement(
    tx,
    `insert into sign_in_link (hash, person_id, workspace_id, made_by, created_at, ends_at)
     values ($1, $2, $3, $4, now(), now() + interval '15 minutes')`,
    [hashKey(token), personId, workspaceId, madeBy],
  );
  return `/sign-in#token=${token}`;
}
