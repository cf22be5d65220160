import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { MAX_MEMBERS } from "../../domain/limits.ts";
import { unavailable } from "../../domain/refusal.ts";

/** How many requests wait to be looked at; the service does so within a second or so. */
const MAX_ASKED = 1_000;
/** How many mails somebody gets of a kind, of invitations by one workspace, within 15 minutes. */
export const MAX_MAILS = 3;

const ASK = `
  insert into mail (kind, state, email, created_at, next_attempt_at)
  select 'sign_in', 'asked', $1, now(), now()
  where (select count(*) from (select from mail where state = 'asked' limit ${MAX_ASKED}) as asked)
    < ${MAX_ASKED}
  returning 1`;

/**
 * Notes that somebody wants a mail with a link to sign in by. Does the same whether or not there is an
 * account: `acceptMails` finds that out later, so that not even the time that this takes tells of it.
 *
 * @throws Refusal UNAVAILABLE when too many requests wait
 */
export async function requestSignInMail(em: EntityManager, email: string): Promise<void> {
  if ((await runStatement(em, ASK, [email])).length > 0) return;
  throw unavailable("Too many people ask for a mail at the moment; try again in a minute.");
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
 * Has somebody get a mail about their invitation into a workspace, in the caller's transaction, which has
 * locked the workspace's members.
 *
 * @returns false when the workspace or the person has had too many
 */
export async function insertInvitationMail(
  tx: EntityManager,
  workspaceId: number,
  email: string,
): Promise<boolean> {
  return (await runStatement(tx, INVITE, [workspaceId, email])).length > 0;
}
