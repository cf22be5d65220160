import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { MAX_MEMBERS } from "../../domain/limits.ts";
import { unavailable } from "../../domain/refusal.ts";

/** Approximate maximum number of unchecked requests. Requests are checked within about a second. */
const MAX_REQUESTED = 1_000;
/**
 * Maximum number of emails per person and kind within 15 minutes. Invitations are counted per workspace and person.
 */
export const MAX_MAILS = 3;

const INSERT = `
  insert into mail (kind, state, email, created_at, next_attempt_at)
  select 'sign_in', 'asked', $1, now(), now()
  where (select count(*) from (select from mail where state = 'asked' limit ${MAX_REQUESTED}) as asked)
    < ${MAX_REQUESTED}
  returning 1`;

/**
 * Queues a request for a sign-in email. Takes the same steps whether or not the account exists, so
 * that its duration does not reveal accounts. `acceptMails` checks the request later.
 *
 * @throws Refusal UNAVAILABLE if too many requests are waiting
 */
export async function requestSignInMail(em: EntityManager, email: string): Promise<void> {
  if ((await runStatement(em, INSERT, [email])).length > 0) return;
  throw unavailable("Too many sign-in emails have been requested. Try again in a minute.");
}

const INVITE = `
  insert into mail (kind, state, email, workspace_id, created_at, next_attempt_at)
  select 'invitation', 'waiting', $2, $1, now(), now()
  from (
    select count(*) as of_day,
      count(*) filter (where lower(email) = lower($2) and created_at > now() - interval '15 minutes')
        as of_person
    from mail where workspace_id = $1 and created_at > now() - interval '1 day'
  ) as mailed
  where of_day < ${MAX_MEMBERS} and of_person < ${MAX_MAILS}
  returning 1`;

/**
 * Queues an invitation email in the caller's transaction, which must have locked the workspace's members.
 *
 * @returns false if the workspace or the person has reached the limit
 */
export async function insertInvitationMail(tx: EntityManager, workspaceId: number, email: string): Promise<boolean> {
  return (await runStatement(tx, INVITE, [workspaceId, email])).length > 0;
}
