import type { LeasedQueue, WorkItem } from "../../db/leased-queue.ts";
import type { EntityManager } from "../../db/orm.ts";
import { deleteInBatches, runStatement } from "../../db/statement.ts";
import { CONCURRENCY, createMailQueue, type LeasedMail, messageIdOf, type SendMailsDeps } from "../mails/mail-queue.ts";
import { acceptMails } from "./accept-mails.ts";
import { mailContent } from "./mail-content.ts";
import type { MailKind } from "./mail.entity.ts";
import { findAccount, insertSignInLink, withdrawSignInLink, type Account } from "./sign-in.ts";

/** Age after which an email is no longer sent, in milliseconds. */
const LIFETIME_MS: Readonly<Record<MailKind, number>> = {
  sign_in: 15 * 60_000,
  invitation: 24 * 60 * 60_000,
};

const FIND_DUE = `
  select id::text as reference, 0 as workspace from mail
  where state = 'waiting' and next_attempt_at <= now() order by next_attempt_at limit $1`;

interface SignInMail extends LeasedMail {
  readonly id: number;
  readonly kind: MailKind;
  readonly email: string;
  readonly workspaceId: number | null;
}

/**
 * Creates the queue that sends sign-in emails. A requested email has the state `asked` until
 * `acceptMails` has found an account. Invitations begin as `waiting`.
 */
export function createSignInMailQueue(deps: SendMailsDeps): LeasedQueue {
  const { em, publicUrl } = deps;
  return createMailQueue<SignInMail>(
    {
      name: "sign_in_mails",
      table: "mail",
      key: ["id"],
      columns: `id::float8 as id, kind, email, workspace_id::float8 as "workspaceId"`,
      workspaceConcurrency: CONCURRENCY,
      async find({ limit }) {
        await acceptMails(em);
        return runStatement<WorkItem>(em, FIND_DUE, [limit]);
      },
      keyOf: ({ reference }) => [reference],
      lifetimeMs: ({ kind }) => LIFETIME_MS[kind],
      async write(due) {
        const written = await em.fork().transactional((tx) => writeMail(tx, due, publicUrl));
        if (written === undefined) return undefined;
        const { signInPath, mail } = written;
        return { mail, undo: () => withdrawSignInLink(em, signInPath) };
      },
    },
    deps,
  );
}

interface Recipient extends Account {
  /** Name of the workspace of an invitation. `undefined` if the person requested the link. */
  readonly workspace: string | undefined;
}

/**
 * Creates an email with a new link in the caller's transaction. The link gives access to everything the person can
 * access, because it is sent to their inbox. Returns `undefined` if the account or membership no longer exists.
 */
async function writeMail(tx: EntityManager, mail: SignInMail, publicUrl: string) {
  const recipient = await findRecipient(tx, mail);
  if (recipient === undefined) return undefined;
  const { id: personId, email: to, workspace } = recipient;
  const signInPath = await insertSignInLink(tx, { personId, workspaceId: null, madeBy: null });
  const messageId = messageIdOf(`${mail.id}.${mail.createdMs}`, publicUrl);
  const content = mailContent({ publicUrl, signInPath, workspace });
  return { signInPath, mail: { ...content, messageId, to } };
}

const INVITED = `
  select person.id::float8 as id, person.email, workspace.name as workspace
  from membership join person on person.id = person_id join workspace on workspace.id = workspace_id
  where workspace_id = $1 and lower(person.email) = lower($2)`;

async function findRecipient(tx: EntityManager, { email, workspaceId }: SignInMail): Promise<Recipient | undefined> {
  if (workspaceId !== null) {
    return (await runStatement<Recipient>(tx, INVITED, [workspaceId, email]))[0];
  }
  const account = await findAccount(tx, email);
  return account && { ...account, workspace: undefined };
}

const PURGE = `
  delete from mail where id in (
    select id from mail where created_at < now() - interval '1 day'
    order by created_at limit $1 for update skip locked)
  returning 1`;

/** Deletes emails older than a day in batches, regardless of their outcome. Returns the number of deleted emails. */
export function purgeMails(em: EntityManager): Promise<number> {
  return deleteInBatches(em, PURGE);
}
