import { randomBytes } from "node:crypto";
import { sql } from "@mikro-orm/postgresql";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { hashKey } from "../../domain/secret-key.ts";
import { recordingChanges, recordSignIn } from "../audit/record-change.ts";
import { endSessionOf } from "./end-sign-ins.ts";
import { Person } from "./person.entity.ts";

/**
 * How many links of one person, for one workspace, work at the same time; beyond that the oldest ends
 * at once.
 */
const MAX_LINKS = 5;

/**
 * Creates a link by which a person can sign in, once, within 15 minutes, in the caller's transaction.
 *
 * @param link `workspaceId` is the only workspace that the session may act in; null for all that the
 * person may do. Whoever creates a link can use it, so that the one of a workspace's admin must not open
 * other workspaces of the person, nor the platform. `madeBy` is null for the person themselves
 * @returns path and fragment of the link. The token is in the fragment, which browsers send nobody, so
 * that it is in no log, and a program that looks at links does not use it up
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

/** Before the token of a link. */
const PATH = "/sign-in#token=";

/** Ends a link that nobody has been given, by its path and fragment. */
export async function withdrawSignInLink(em: EntityManager, signInPath: string): Promise<void> {
  const hash = hashKey(signInPath.slice(PATH.length));
  await runStatement(em, "delete from sign_in_link where hash = $1", [hash]);
}

/** How much is kept of what a browser says of itself, in characters. */
const MAX_USER_AGENT = 300;

/** The browser in which somebody signs in. */
export interface Browser {
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

/** A link that somebody signs in by. */
interface UsedLink extends SessionBounds {
  readonly email: string;
  /** Null for the person themselves. */
  readonly madeBy: string | null;
}

/** Whose session it is, and where it acts. */
interface SessionBounds {
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
async function beginSession(
  tx: EntityManager,
  { personId, workspaceId, leftWorkspaces = "{}" }: SessionBounds,
  { userAgent, session }: Browser,
): Promise<string> {
  if (session !== undefined) await endSessionOf(tx, session);
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

/** A token of a link or a session, 256 bits. Only its SHA-256 is stored. */
function createToken(): string {
  return randomBytes(32).toString("base64url");
}

/** The letters that emails of people have; others may turn into these when their case is ignored. */
export const ASCII_EMAIL = /^[\x21-\x7e]+@[\x21-\x7e]+$/;

/**
 * Begins a session of the person with an email that somebody else vouches for, whatever the case of its
 * letters. An operator who signs in for the first time becomes a person.
 *
 * @returns the session's token, which cannot be read again; undefined when neither a person nor an
 * operator has this email
 */
export async function signInByEmail(
  em: EntityManager,
  email: string,
  browser: Browser,
): Promise<string | undefined> {
  if (!ASCII_EMAIL.test(email)) return undefined;
  return em.fork().transactional(async (tx) => {
    const account = await findAccount(tx, email);
    return account && beginSession(tx, { personId: account.id, workspaceId: null }, browser);
  });
}

/** Somebody who can sign in. */
export interface Account {
  /** Of the person. */
  readonly id: number;
  readonly email: string;
}

/**
 * The account with an email, whatever the case of its letters. An operator who is not known as a person
 * yet becomes one, in the caller's transaction.
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
 * The person with an email, whatever the case of its letters; created in the caller's transaction when
 * there is none. Two that create the same one at the same time find one.
 *
 * @param name for somebody new; the part of the email before the @ when not given
 */
export async function findOrInsertPerson(
  tx: EntityManager,
  email: string,
  name: string | undefined,
): Promise<Person> {
  const lock = "select pg_advisory_xact_lock(hashtextextended('person ' || lower($1), 0))";
  await runStatement(tx, lock, [email]);
  const known = await tx.findOne(Person, { [sql`lower(email)`]: email.toLowerCase() });
  if (known !== null) return known;
  const person = tx.create(Person, {
    email,
    name: name ?? email.slice(0, email.indexOf("@")),
    createdAt: new Date(),
    lastSignedInAt: null,
  });
  await tx.flush();
  return person;
}

/**
 * Notes that an attempt to sign in at an identity provider has come to its end.
 *
 * @param state by which the attempt is told from others
 * @param seconds how long an attempt lasts at most; kept for twice as long, as clocks differ
 * @returns false when it had come to its end before
 */
export async function spendAttempt(
  em: EntityManager,
  state: string,
  seconds: number,
): Promise<boolean> {
  const spent = await runStatement(
    em.fork(),
    `insert into spent_attempt (hash, ends_at) values ($1, now() + make_interval(secs => $2))
     on conflict do nothing returning 1`,
    [hashKey(state), 2 * seconds],
  );
  return spent.length > 0;
}
