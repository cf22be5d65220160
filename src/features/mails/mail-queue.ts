import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import {
  createWorkers,
  type LeasedQueue,
  type WorkItem,
  type Workers,
} from "../../db/leased-queue.ts";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import type { MailContent } from "../../domain/mail-html.ts";

/** A mail as a mail server gets it. */
export interface OutgoingMail extends MailContent {
  /** `<...@...>`, the same each time that the mail is tried. */
  readonly messageId: string;
  readonly to: string;
  /** Where a POST ends mails such as this one (RFC 8058); undefined where none does. */
  readonly unsubscribeUrl?: string | undefined;
}

/** What sends mails through a mail server. */
export type SendMail = (
  mail: OutgoingMail,
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

/** How far a mail is that is to be sent. */
export const QUEUED_STATES = ["waiting", "sent", "failed"] as const;

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

/** A mail that this process alone tries. */
export interface LeasedMail {
  /** This one included. */
  readonly attempts: number;
  readonly createdMs: number;
  readonly ageMs: number;
}

/** A table of mails, with the columns `state`, `attempts`, `created_at` and `next_attempt_at`. */
export interface MailQueue<Mail extends LeasedMail> extends Pick<
  LeasedQueue<WorkItem>,
  "ofWorkspace" | "find"
> {
  readonly table: string;
  readonly key: readonly string[];
  /** SQL of what is read of a mail besides what it is leased by. */
  readonly columns: string;
  keyOf(item: WorkItem): readonly unknown[];
  /** How long a mail is worth sending, in milliseconds. */
  lifetimeMs(mail: Mail): number;
  /**
   * Writes a mail; undefined when it is not to be sent any more.
   *
   * @returns with what undoes the writing, should it not be sent
   */
  write(
    mail: Mail,
  ): Promise<{ readonly mail: OutgoingMail; undo?(): Promise<unknown> } | undefined>;
}

/** How many mails of a table this process sends at the same time. */
export const AT_ONCE = 4;
/** For how long no other process tries what one does, in seconds: longer than an attempt takes. */
const LEASE_SECONDS = 60;
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

function statementsOf({ table, key, columns }: MailQueue<never>) {
  const isIt = key.map((column, i) => `${column} = $${i + 1}`).join(" and ");
  const next = key.length + 2;
  /** Unless the lease has ended and another process has taken it, which counts an attempt. */
  const stillOurs = `where ${isIt} and attempts = $${next - 1}`;
  return {
    lease: `
  update ${table} set attempts = attempts + 1, next_attempt_at = now() + interval '${LEASE_SECONDS} s'
  where ${isIt} and state = 'waiting' and next_attempt_at <= now()
  returning ${columns}, attempts, created_at as "createdAt", next_attempt_at as "leasedUntil"`,
    end: `update ${table} set state = $${next} ${stillOurs}`,
    putOff: `update ${table} set next_attempt_at = now() + $${next}::int * interval '1 ms' ${stillOurs}`,
    forget: `delete from ${table} ${stillOurs}`,
  };
}

/**
 * Builds the workers that send the mails of a table. What is due is leased by moving its next attempt behind the
 * longest that an attempt takes: a process that dies leaves its mails to others, and two send none at the same time. A
 * mail is sent twice only when a process dies between the server's answer and noting it; both have the same Message-ID.
 *
 * While the server cannot be reached, a process tries a few mails, ever less often, up to once a minute.
 * A mail has failed when the server refuses it, or when it has waited for longer than it is worth sending.
 *
 * @param givingUp ends the attempts in flight
 */
export function createMailWorkers<Mail extends LeasedMail>(
  queue: MailQueue<Mail>,
  deps: SendMailsDeps,
  givingUp: AbortSignal,
): Workers {
  const { em, log } = deps;
  const sql = statementsOf(queue);
  let restMs = FIRST_REST_MS;
  let restsUntilMs = 0;

  async function work(item: WorkItem): Promise<void> {
    const key = queue.keyOf(item);
    const [leased] = await runStatement<Mail & LeaseTimes>(em, sql.lease, key);
    const outcome = leased && (await attempt(key, { ...leased, ...agesOf(leased) }));
    const nowMs = performance.now();
    if (outcome !== undefined && outcome !== "unreachable") restMs = FIRST_REST_MS;
    if (outcome !== "unreachable" || nowMs < restsUntilMs) return;
    restsUntilMs = nowMs + restMs;
    restMs = Math.min(restMs * 2, MAX_REST_MS);
  }

  /**
   * Tries to send a mail, and notes what came of it.
   *
   * @returns undefined when it is not to be sent any more
   */
  async function attempt(key: readonly unknown[], mail: Mail): Promise<MailOutcome | undefined> {
    const note = (statement: string, ...values: unknown[]) =>
      noteUntil(givingUp, em, statement, [...key, mail.attempts, ...values]);
    const leftMs = queue.lifetimeMs(mail) - mail.ageMs;
    if (leftMs < 0) {
      deps.countFailure();
      await note(sql.end, "failed");
      return undefined;
    }
    const written = await queue.write(mail);
    if (written === undefined) {
      await note(sql.forget);
      return undefined;
    }
    const failure = await deps.send(written.mail, givingUp);
    deps.countAttempt(failure?.kind ?? "sent");
    if (failure === undefined) {
      await note(sql.end, "sent");
      return "sent";
    }
    // Neither the address nor the server's words, which often have it.
    const { messageId } = written.mail;
    log.warn({ mail: messageId, attempts: mail.attempts, ...failure }, "a mail was not sent");
    await written.undo?.().catch(() => undefined);
    const waitMs = nextWaitMs(mail.attempts, deps.random());
    const isOver = failure.kind === "refused" || waitMs > leftMs;
    if (isOver) deps.countFailure();
    await (isOver ? note(sql.end, "failed") : note(sql.putOff, waitMs));
    return failure.kind;
  }

  return createWorkers<WorkItem>(
    {
      atOnce: AT_ONCE,
      ofWorkspace: queue.ofWorkspace,
      find: async (limit, except) =>
        performance.now() < restsUntilMs ? [] : queue.find(limit, except),
      work,
    },
    (error) => log.warn({ err: error }, "sending mails was interrupted"),
  );
}

/** Times as they are: a distributed database takes no function of time zones among what is returned. */
interface LeaseTimes {
  readonly createdAt: Date | string;
  readonly leasedUntil: Date | string;
}

/** By the clock of the database. */
function agesOf({ createdAt, leasedUntil }: LeaseTimes): Omit<LeasedMail, "attempts"> {
  const createdMs = new Date(createdAt).getTime();
  const leasedMs = new Date(leasedUntil).getTime() - LEASE_SECONDS * 1_000;
  return { createdMs, ageMs: leasedMs - createdMs };
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

/** The name of a mail: with its host it is unlike that of any other mail (RFC 5322, section 3.6.4). */
export function messageIdOf(name: string, publicUrl: string): string {
  return `<${name}@${new URL(publicUrl).hostname}>`;
}
