import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { createWorkers, type LeasedQueue, type WorkItem, type Workers } from "../../db/leased-queue.ts";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import type { MailContent } from "../../domain/mail-html.ts";

interface OutgoingMail extends MailContent {
  /** Message-ID, as in `<...@...>`. The same for each attempt. */
  readonly messageId: string;
  readonly to: string;
  /** URL to which a POST unsubscribes from such emails (RFC 8058). `undefined` if recipients cannot unsubscribe. */
  readonly unsubscribeUrl?: string | undefined;
}

/** Sends an email through a mail server. Resolves to the failure, if any. */
type SendMail = (mail: OutgoingMail, signal: AbortSignal) => Promise<MailFailure | undefined>;

interface MailFailure {
  /**
   * `refused` is permanent, `deferred` is temporary, and `unreachable` means that the server
   * accepts no emails at all.
   */
  readonly kind: "refused" | "deferred" | "unreachable";
  readonly code: string | undefined;
  readonly status: number | undefined;
}

export const MAIL_OUTCOMES = ["sent", "refused", "deferred", "unreachable"] as const;
export type MailOutcome = (typeof MAIL_OUTCOMES)[number];

export const QUEUED_STATES = ["waiting", "sent", "failed"] as const;

export interface SendMailsDeps {
  readonly em: EntityManager;
  readonly log: Logger;
  readonly send: SendMail;
  readonly publicUrl: string;
  /** Returns a random number from 0 to 1, which spreads retries. */
  readonly random: () => number;
  readonly countAttempt: (outcome: MailOutcome) => void;
  /** Called for each email that will not be retried. */
  readonly countFailure: () => void;
}

/** An email leased by this process, so that no other process sends it. */
export interface LeasedMail {
  /** Number of attempts, including the current one. */
  readonly attempts: number;
  readonly createdMs: number;
  readonly ageMs: number;
}

/** A table of emails with the columns `state`, `attempts`, `created_at` and `next_attempt_at`. */
export interface MailQueue<Mail extends LeasedMail> extends Pick<
  LeasedQueue<WorkItem>,
  "workspaceConcurrency" | "find"
> {
  readonly table: string;
  readonly key: readonly string[];
  /** SQL for an email's columns other than those of the lease. */
  readonly columns: string;
  keyOf(item: WorkItem): readonly unknown[];
  /** Returns the age after which an email is no longer sent, in milliseconds. */
  lifetimeMs(mail: Mail): number;
  /**
   * Creates the content of an email. Returns `undefined` if the email must no longer be sent.
   *
   * @returns the email, and a function that reverts side effects if the email is not sent
   */
  write(mail: Mail): Promise<{ readonly mail: OutgoingMail; undo?(): Promise<unknown> } | undefined>;
}

/** Maximum number of emails that this process sends concurrently from each table. */
export const CONCURRENCY = 4;
/** Duration of a lease in seconds. Longer than an attempt. */
const LEASE_SECONDS = 60;
/** Delay after the first attempt, and maximum delay, in milliseconds. The delay doubles with each attempt. */
const FIRST_WAIT_MS = 5_000;
const MAX_WAIT_MS = 5 * 60_000;
/** Maximum jitter, as a share of the delay. */
const JITTER = 0.1;
/** First and maximum pause while the mail server is unreachable, in milliseconds. */
const FIRST_REST_MS = 1_000;
const MAX_REST_MS = 60_000;
const RETRY_MS = 1_000;

function statementsOf({ table, key, columns }: MailQueue<never>) {
  const isIt = key.map((column, i) => `${column} = $${i + 1}`).join(" and ");
  const next = key.length + 2;
  /**
   * Condition that this process still owns the email. If the lease expired and another process
   * acquired it, that process has increased `attempts`.
   */
  const isLeaseHeld = `where ${isIt} and attempts = $${next - 1}`;
  return {
    lease: `
  update ${table} set attempts = attempts + 1, next_attempt_at = now() + interval '${LEASE_SECONDS} s'
  where ${isIt} and state = 'waiting' and next_attempt_at <= now()
  returning ${columns}, attempts, created_at as "createdAt", next_attempt_at as "leasedUntil"`,
    end: `update ${table} set state = $${next} ${isLeaseHeld}`,
    putOff: `update ${table} set next_attempt_at = now() + $${next}::int * interval '1 ms' ${isLeaseHeld}`,
    forget: `delete from ${table} ${isLeaseHeld}`,
  };
}

/**
 * Creates the workers that send the emails of a table. A lease sets the next attempt to a time after the longest
 * possible attempt. Other processes therefore take over the emails of a crashed process, and two processes never send
 * the same email. An email is duplicated only if a process dies between receiving the server's response and recording
 * it. Both copies have the same Message-ID.
 *
 * While the server is unreachable, a process attempts only a few emails, with a backoff of up to a minute. An email
 * fails when the server refuses it or its lifetime has passed.
 *
 * @param givingUp aborts the attempts in flight
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

  /** Tries to send an email and records the outcome. Returns `undefined` if the email must no longer be sent. */
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
    // Does not log the recipient's address or the server's text, which often contains the address.
    const { messageId } = written.mail;
    log.warn({ mail: messageId, attempts: mail.attempts, ...failure }, "an email was not sent");
    await written.undo?.().catch(() => undefined);
    const waitMs = nextWaitMs(mail.attempts, deps.random());
    const isOver = failure.kind === "refused" || waitMs > leftMs;
    if (isOver) deps.countFailure();
    await (isOver ? note(sql.end, "failed") : note(sql.putOff, waitMs));
    return failure.kind;
  }

  return createWorkers<WorkItem>(
    {
      concurrency: CONCURRENCY,
      workspaceConcurrency: queue.workspaceConcurrency,
      find: async (limit, except) => (performance.now() < restsUntilMs ? [] : queue.find(limit, except)),
      work,
    },
    (error) => log.warn({ err: error }, "sending emails was interrupted"),
  );
}

/** Times as returned by the driver, because a distributed database accepts no time zone functions in `returning`. */
interface LeaseTimes {
  readonly createdAt: Date | string;
  readonly leasedUntil: Date | string;
}

/** Returns the creation time of an email and its age at the time of the lease, by the database's clock. */
function agesOf({ createdAt, leasedUntil }: LeaseTimes): Omit<LeasedMail, "attempts"> {
  const createdMs = new Date(createdAt).getTime();
  const leasedMs = new Date(leasedUntil).getTime() - LEASE_SECONDS * 1_000;
  return { createdMs, ageMs: leasedMs - createdMs };
}

/** Returns the delay after the given number of attempts, in milliseconds. */
function nextWaitMs(attempts: number, random: number): number {
  const waitMs = Math.min(FIRST_WAIT_MS * 2 ** (attempts - 1), MAX_WAIT_MS);
  return Math.round(waitMs * (1 + JITTER * random));
}

/**
 * Updates an email. Retries until the database accepts the update, because an unrecorded email would be sent again.
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

/** Returns the Message-ID of an email. The host makes it globally unique (RFC 5322, section 3.6.4). */
export function messageIdOf(name: string, publicUrl: string): string {
  return `<${name}@${new URL(publicUrl).hostname}>`;
}
