import { randomBytes } from "node:crypto";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { hashKey } from "../../domain/secret-key.ts";
import { recordingChanges, recordSignIn } from "../audit/record-change.ts";

/** How much is kept of what a browser says of itself, in characters. */
const MAX_USER_AGENT = 300;

/** The browser in which somebody signs in. */
export interface SigningIn {
  /** What it says of itself. */
  readonly userAgent: string;
  /** The token of the session that it had, which ends; undefined for none. */
  readonly session: string | undefined;
}

/**
 * Uses up a sign-in link and begins a session.
 *
 * @returns the session's token, which cannot be read again; undefined when no link with this token
 * works any more
 */
export async function signInByLink(
  em: EntityManager,
  token: string,
  browser: SigningIn & { readonly requestId: string },
): Promise<string | undefined> {
  const signIn = async (tx: EntityManager) => {
    const [link] = await runStatement<UsedLink>(
      tx,
      `with used as (
         delete from sign_in_link where hash = $1 and ends_at > now()
         returning person_id, workspace_id, left_workspaces, made_by)
       select person_id::float8 as "personId", workspace_id::float8 as "workspaceId",
         left_workspaces::text as "leftWorkspaces", made_by as "madeBy", person.email
       from used join person on person.id = person_id`,
      [hashKey(token)],
    );
    if (link === undefined) return undefined;
    const { madeBy } = link;
    if (madeBy !== null) recordSignIn(tx, { ...link, ...browser, madeBy });
    return beginSession(tx, link, browser);
  };
  return em.fork().transactional((tx) => recordingChanges(tx, () => signIn(tx)));
}

/** A link that somebody signs in by. */
interface UsedLink extends SessionBounds {
  readonly email: string;
  /** Null for the person themselves. */
  readonly madeBy: string | null;
}

/** Whose session it is, and where it acts. */
export interface SessionBounds {
  readonly personId: number;
  /** The only workspace; null for all that the person may do. */
  readonly workspaceId: number | null;
  /** Those among them that the person has left since; as text of an array. */
  readonly leftWorkspaces?: string;
}

/**
 * Begins a session of a person in the caller's transaction: 7 days at most, 12 hours unless it is
 * used. The browser's session before ends.
 *
 * @returns its token, which cannot be read again
 */
export async function beginSession(
  tx: EntityManager,
  { personId, workspaceId, leftWorkspaces = "{}" }: SessionBounds,
  { userAgent, session }: SigningIn,
): Promise<string> {
  if (session !== undefined) await endSessionOf(tx, session);
  const token = randomBytes(32).toString("base64url");
  await runStatement(
    tx,
    `with person as (update person set last_signed_in_at = now() where id = $2)
     insert into session
       (hash, person_id, workspace_id, left_workspaces, user_agent, created_at, last_seen_at, ends_at)
     values ($1, $2, $3, $4::bigint[], $5, now(), now(), now() + interval '7 days')`,
    [hashKey(token), personId, workspaceId, leftWorkspaces, userAgent.slice(0, MAX_USER_AGENT)],
  );
  return token;
}

/** Ends the session with a token; whether there was one. */
export async function signOut(em: EntityManager, token: string): Promise<boolean> {
  return endSessionOf(em.fork(), token);
}

async function endSessionOf(em: EntityManager, token: string): Promise<boolean> {
  const sql = "delete from session where hash = $1 returning 1";
  return (await runStatement(em, sql, [hashKey(token)])).length > 0;
}
