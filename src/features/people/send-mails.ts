import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { createWorkers, type WorkItem, type Workers } from "../../db/leased-queue.ts";
import type { EntityManager } from "../../db/orm.ts";
import { deleteInBatches, runStatement } from "../../db/statement.ts";
import { acceptMails } from "./accept-mails.ts";
import { mailContent, type MailContent } from "./mail-content.ts";
import type { MailKind } from "./mail.entity.ts";
import { findAccount, insertSignInLink, withdrawSignInLink, type Account } from "./sign-in.ts";

/** What sends mails through a mail server. */
export type SendMail = (
  mail: MailContent & { readonly messageId: string; readonly to: string },
  signal: AbortSignal,
) => Promise<MailFailure | undefined>;

/** Why a mail was not sent. */
export interface MailFailure {
  /** For ever, for now, or because the server takes nothing for anybody. */
  readonly kind: "refused" | "deferred" | "unreachable";
  readonly code: string | undefined;
  readonly status: number | undefined;
}

/** What came of an attempt at a mail. */
export const MAIL_OUTCOMES = ["sent", "refused", "deferred", "unreachable"] as const;
export type MailOutcome = (typeof MAIL_OUTCOMES)[number];

/** What sending mails needs. */
export interface SendMailsDeps {
  readonly em: EntityManager;
  readonly log: Logger;
  readonly send: SendMail;
  readonly publicUrl: string;
  /** From 0 to 1; spreads attempts. */
  readonly random: () => number;
  readonly countAttempt: (outcome: MailOutcome) => void;
  /** Called for each mail that is given up. */
  readonly countFailure: () => void;
}

/** How many mails this process sends at the same time. */
const AT_ONCE = 4;
/** For how long no other process tries what one does, in seconds: longer than an attempt takes. */
const LEASE_SECONDS = 60;
/** How long a mail is worth sending, in milliseconds. */
const LIFETIME_MS: Readonly<Record<MailKind, number>> = {
  sign_in: 15 * 60_000,
  invitation: 24 * 60 * 60_000,
};
/** The wait after the first attempt, and the longest, in milliseconds; it doubles each time. */
const FIRST_WAIT_MS = 5_000;
const MAX_WAIT_MS = 5 * 60_000;
/** By which share a wait may be longer. */
const JITTER = 0.1;
/** How long a process rests that cannot reach the server, first and at most, in milliseconds. */
const FIRST_REST_MS = 1_000;
const MAX_REST_MS = 60_000;
/** How long to wait after an error of the database, in milliseconds. */
const RETRY_MS = 1_000;

const FIND_DUE = `
  select id::text as reference, 0 as workspace from mail
  where state = 'waiting' and next_attempt_at <= now() order by next_attempt_at limit $1`;

const LEASE = `
  update mail set attempts = attempts + 1, next_attempt_at = now() + interval '${LEASE_SECONDS} s'
  where id = $1 and state = 'waiting' and next_attempt_at <= now()
  returning id::float8 as id, kind, email, workspace_id::float8 as "workspaceId", attempts,
    (extract(epoch from created_at) * 1000)::float8 as "createdMs",
    (extract(epoch from now() - created_at) * 1000)::float8 as "ageMs"`;

/** Unless the lease has ended and another process has taken it, which counts an attempt. */
const STILL_OURS = "where id = $1 and attempts = $2";
const END = `update mail set state = $3 ${STILL_OURS}`;
const PUT_OFF = `update mail set next_attempt_at = now() + $3::int * interval '1 ms' ${STILL_OURS}`;
const FORGET = `delete from mail ${STILL_OURS}`;

/** A mail that this process alone tries. */
interface LeasedMail {
  readonly id: number;
  readonly kind: MailKind;
  readonly email: string;
  readonly workspaceId: number | null;
  /** This one included. */
  readonly attempts: number;
  readonly createdMs: number;
  readonly ageMs: number;
}

/**
 * Builds the workers that send mails. A mail is `asked` for by whoever types an email, until `acceptMails`
 * has found that there is an account; invitations begin as `waiting`. What is due is leased by moving its
 * next attempt behind the longest that an attempt takes: a process that dies leaves its mails to others,
 * and two send none at the same time. A mail is sent twice only when a process dies between the server's
 * answer and noting it; both have the same Message-ID.
 *
 * While the server cannot be reached, a process tries a few mails, ever less often, up to once a minute.
 * A mail has failed when the server refuses it, or when it has waited for longer than it is worth sending.
 *
 * @param givingUp ends the attempts in flight
 */
export function createMailWorkers(deps: SendMailsDeps, givingUp: AbortSignal): Workers {
  const { em, log } = deps;
  let restMs = FIRST_REST_MS;
  let restsUntilMs = 0;

  async function send({ reference }: WorkItem): Promise<void> {
    const [mail] = await runStatement<LeasedMail>(em, LEASE, [reference]);
    const outcome = mail && (await attempt(deps, mail, givingUp));
    const nowMs = performance.now();
    if (outcome !== undefined && outcome !== "unreachable") restMs = FIRST_REST_MS;
    if (outcome !== "unreachable" || nowMs < restsUntilMs) return;
    restsUntilMs = nowMs + restMs;
    restMs = Math.min(restMs * 2, MAX_REST_MS);
  }

  const workers = createWorkers<WorkItem>(
    {
      atOnce: AT_ONCE,
      ofWorkspace: AT_ONCE,
      find: async (limit) =>
        performance.now() < restsUntilMs ? [] : runStatement<WorkItem>(em, FIND_DUE, [limit]),
      work: send,
    },
    (error) => log.warn({ err: error }, "sending mails was interrupted"),
  );
  return {
    ...workers,
    async begin() {
      await acceptMails(em);
      return workers.begin();
    },
  };
}

/** Who gets a mail, and what it says of where they are invited. */
interface Recipient extends Account {
  /** The workspace's name; undefined for who asked for the mail. */
  readonly workspace: string | undefined;
}

/**
 * Tries to send a mail, and notes what came of it.
 *
 * @returns undefined when it is not to be sent any more
 */
async function attempt(
  deps: SendMailsDeps,
  mail: LeasedMail,
  signal: AbortSignal,
): Promise<MailOutcome | undefined> {
  const { em, publicUrl } = deps;
  const note = (sql: string, ...values: unknown[]) =>
    noteUntil(signal, em, sql, [mail.id, mail.attempts, ...values]);
  if (mail.ageMs > LIFETIME_MS[mail.kind]) {
    deps.countFailure();
    await note(END, "failed");
    return undefined;
  }
  const written = await em.fork().transactional((tx) => writeMail(tx, mail, publicUrl));
  if (written === undefined) {
    await note(FORGET);
    return undefined;
  }
  const failure = await deps.send(written.mail, signal);
  deps.countAttempt(failure?.kind ?? "sent");
  if (failure === undefined) {
    await note(END, "sent");
    return "sent";
  }
  // Neither the address nor the server's words, which often have it.
  deps.log.warn({ mail: mail.id, attempts: mail.attempts, ...failure }, "a mail was not sent");
  await withdrawSignInLink(em, written.signInPath).catch(() => undefined);
  const waitMs = nextWaitMs(mail.attempts, deps.random());
  const isOver = failure.kind === "refused" || mail.ageMs + waitMs > LIFETIME_MS[mail.kind];
  if (isOver) deps.countFailure();
  await (isOver ? note(END, "failed") : note(PUT_OFF, waitMs));
  return failure.kind;
}

/** How long to wait after so many attempts, in milliseconds. */
function nextWaitMs(attempts: number, random: number): number {
  const waitMs = Math.min(FIRST_WAIT_MS * 2 ** (attempts - 1), MAX_WAIT_MS);
  return Math.round(waitMs * (1 + JITTER * random));
}

/**
 * Notes something of a mail, again until the database takes it: what has been sent and is not noted would
 * be sent once more.
 */
async function noteUntil(
  signal: AbortSignal,
  em: EntityManager,
  sql: string,
  values: readonly unknown[],
): Promise<void> {
  for (;;) {
    try {
      await runStatement(em, sql, values);
      return;
    } catch (error) {
      if (signal.aborted) throw error;
      await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}

/**
 * Writes a mail with a new link, in the caller's transaction. The link opens all that the person may do,
 * since whoever reads their mails is them.
 *
 * @returns undefined when the account or the membership has ended meanwhile
 */
async function writeMail(tx: EntityManager, mail: LeasedMail, publicUrl: string) {
  const recipient = await findRecipient(tx, mail);
  if (recipient === undefined) return undefined;
  const { id: personId, email: to, workspace } = recipient;
  const signInPath = await insertSignInLink(tx, { personId, workspaceId: null, madeBy: null });
  const messageId = `<${mail.id}.${mail.createdMs}@${new URL(publicUrl).hostname}>`;
  const content = mailContent({ publicUrl, signInPath, workspace });
  return { signInPath, mail: { ...content, messageId, to } };
}

const INVITED = `
  select person.id::float8 as id, person.email, workspace.name as workspace
  from membership join person on person.id = person_id join workspace on workspace.id = workspace_id
  where workspace_id = $1 and lower(person.email) = lower($2)`;

async function findRecipient(
  tx: EntityManager,
  { email, workspaceId }: LeasedMail,
): Promise<Recipient | undefined> {
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

/** Deletes mails that are a day old, whatever came of them, in batches, and tells how many. */
export function purgeMails(em: EntityManager): Promise<number> {
  return deleteInBatches(em, PURGE);
}
