import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { findOrAddPerson } from "./find-or-add-person.ts";
import { beginSession, type SigningIn } from "./sign-in.ts";

/** The letters that emails of people have; others may turn into these when their case is ignored. */
const ASCII_EMAIL = /^[\x21-\x7e]+@[\x21-\x7e]+$/;

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
  browser: SigningIn,
): Promise<string | undefined> {
  if (!ASCII_EMAIL.test(email)) return undefined;
  return em.fork().transactional(async (tx) => {
    const personId = (await findPersonId(tx, email)) ?? (await addOperatorsPerson(tx, email));
    if (personId === undefined) return undefined;
    return beginSession(tx, { personId, workspaceId: null }, browser);
  });
}

async function findPersonId(tx: EntityManager, email: string): Promise<number | undefined> {
  const [person] = await runStatement<{ id: number }>(
    tx,
    "select id::float8 as id from person where lower(email) = lower($1)",
    [email],
  );
  return person?.id;
}

async function addOperatorsPerson(tx: EntityManager, email: string): Promise<number | undefined> {
  const [operator] = await runStatement<{ name: string; email: string }>(
    tx,
    `select name, email from operator
     where lower(email) = lower($1) and kind = 'person' and revoked_at is null`,
    [email],
  );
  if (operator === undefined) return undefined;
  return (await findOrAddPerson(tx, operator.email, operator.name)).id;
}
