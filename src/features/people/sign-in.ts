import { randomBytes } from "node:crypto";
import { sql } from "@mikro-orm/postgresql";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { hashKey } from "../../domain/secret-key.ts";
import { recordingChanges, recordSignIn } from "../audit/record-change.ts";
import { endSessionOf } from "./end-sign-ins.ts";
import { Person } from "./person.entity.ts";

/** Maximum number of active links per person and workspace. If exceeded, the oldest link expires immediately. */
const MAX_LINKS = 5;

/**
 * Creates a single-use sign-in link, valid for 15 minutes, in the caller's transaction.
 *
 * The creator of a link could use it. A link that a workspace's admin creates must therefore not give access to the
 * person's other workspaces or the platform.
 *
 * @param link `workspaceId` binds the session to a workspace. With null, the session has all permissions of the person.
 *   `madeBy` is null if the person requested the link
 * @returns path and fragment of the link. Browsers never send the fragment with the token, so it does not appear in
 *   logs, and link scanners do not use up the link
 */
export async function insertSignInLink(
  tx: EntityManager,
  link: {
    readonly personId: number;
    readonly workspaceId: number | null;
    readonly madeBy: string | null;
  },
): Promise<string> {
  const { personId, workspaceId, madeBy } = link;
  const token = createToken();
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
  return PATH + token;
}

/** Path of a sign-in link, followed by the token. */
const PATH = "/sign-in#token=";

/** Deletes a link that was never sent. */
export async function withdrawSignInLink(em: EntityManager, signInPath: string): Promise<void> {
  const hash = hashKey(signInPath.slice(PATH.length));
  await runStatement(em, "delete from sign_in_link where hash = $1", [hash]);
}

/** Maximum length of a stored user agent, in characters. */
const MAX_USER_AGENT = 300;

export interface Browser {
  readonly userAgent: string;
  /** Token of the browser's previous session, which the sign-in ends. `undefined` if there is none. */
  readonly session: string | undefined;
}

/**
 * Uses up a sign-in link and starts a session.
 *
 * @returns the session's token, which cannot be read again, or `undefined` if no active link has this token
 */
export async function signInByLink(
  em: EntityManager,
  token: string,
  browser: Browser & { readonly requestId: string },
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

interface UsedLink extends SessionBounds {
  readonly email: string;
  /** Creator of the link. null if the person requested it. */
  readonly madeBy: string | null;
}

interface SessionBounds {
  readonly personId: number;
  /** Workspace to which the session is bound. null for all permissions of the person. */
  readonly workspaceId: number | null;
  /** Workspaces that the person has left since the link was created, as the text of an array. */
  readonly leftWorkspaces?: string;
}

/**
 * Records the sign-in in the workspaces to which the session applies. A session that is bound to a workspace does not
 * change the name that the workspace sees, because an admin may have used the link.
 */
const SHOW_SIGN_IN = `
  update membership set last_signed_in_at = now(),
    name = case when $2::bigint is null and person.name is not null then null else membership.name end
  from person
  where person.id = person_id and person_id = $1 and workspace_id = coalesce($2::bigint, workspace_id)
    and workspace_id <> all ($3::bigint[])`;

/**
 * Starts a session in the caller's transaction. It lasts up to 7 days, with an idle timeout of 12
 * hours. Ends the browser's previous session.
 *
 * @returns the token, which cannot be read again
 */
async function beginSession(
  tx: EntityManager,
  { personId, workspaceId, leftWorkspaces = "{}" }: SessionBounds,
  { userAgent, session }: Browser,
): Promise<string> {
  if (session !== undefined) await endSessionOf(tx, session);
  await runStatement(tx, SHOW_SIGN_IN, [personId, workspaceId, leftWorkspaces]);
  const token = createToken();
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

/** Creates a token with 256 random bits for a link or session. Only its SHA-256 is stored. */
function createToken(): string {
  return randomBytes(32).toString("base64url");
}

/** Matches emails in ASCII. Stored emails contain no other characters, and lowercasing can turn others into ASCII. */
const ASCII_EMAIL = /^[\x21-\x7e]+@[\x21-\x7e]+$/;

/**
 * Starts a session for the person with a verified email, ignoring case. An operator becomes a
 * person at the first sign-in.
 *
 * @returns the session's token, which cannot be read again, or `undefined` if neither a person nor
 *   an operator has this email
 */
export async function signInByEmail(em: EntityManager, email: string, browser: Browser): Promise<string | undefined> {
  if (!ASCII_EMAIL.test(email)) return undefined;
  return em.fork().transactional(async (tx) => {
    const account = await findAccount(tx, email);
    return account && beginSession(tx, { personId: account.id, workspaceId: null }, browser);
  });
}

export interface Account {
  readonly id: number;
  readonly email: string;
}

/**
 * Finds the account with an email, ignoring case. Creates the person of a new operator in the caller's transaction.
 */
export async function findAccount(tx: EntityManager, email: string): Promise<Account | undefined> {
  const [person] = await runStatement<Account>(
    tx,
    "select id::float8 as id, email from person where lower(email) = lower($1)",
    [email],
  );
  return person ?? insertOperator(tx, email);
}

async function insertOperator(tx: EntityManager, email: string): Promise<Account | undefined> {
  const [operator] = await runStatement<{ name: string; email: string }>(
    tx,
    `select name, email from operator
     where lower(email) = lower($1) and kind = 'person' and revoked_at is null`,
    [email],
  );
  if (operator === undefined) return undefined;
  return findOrInsertPerson(tx, operator.email, operator.name);
}

/**
 * Finds the person with an email, ignoring case, or creates one in the caller's transaction. Concurrent calls return
 * the same person.
 *
 * @param name name of a new person, visible to all their workspaces. null until the person chooses one
 */
export async function findOrInsertPerson(tx: EntityManager, email: string, name: string | null): Promise<Person> {
  const lock = "select pg_advisory_xact_lock(hashtextextended('person ' || lower($1), 0))";
  await runStatement(tx, lock, [email]);
  const known = await tx.findOne(Person, { [sql`lower(email)`]: email.toLowerCase() });
  if (known !== null) return known;
  const person = tx.create(Person, {
    email,
    name,
    createdAt: new Date(),
    lastSignedInAt: null,
  });
  await tx.flush();
  return person;
}

/**
 * Uses up an attempt to sign in with an identity provider.
 *
 * @param state unique value of the attempt
 * @param seconds maximum duration of an attempt. The record is kept for twice as long, because clocks differ
 * @returns false if the attempt was already used
 */
export async function spendAttempt(em: EntityManager, state: string, seconds: number): Promise<boolean> {
  const spent = await runStatement(
    em.fork(),
    `insert into spent_attempt (hash, ends_at) values ($1, now() + make_interval(secs => $2))
     on conflict do nothing returning 1`,
    [hashKey(state), 2 * seconds],
  );
  return spent.length > 0;
}
