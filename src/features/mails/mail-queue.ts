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

/** An email for a mail server. */
interface OutgoingMail extends MailContent {
  /** `<...@...>`, the same for each attempt. */
  readonly messageId: string;
  readonly to: string;
  /**
   * URL at which a POST unsubscribes from such emails (RFC 8058). `undefined` if the email has no unsubscribe link.
   */
  readonly unsubscribeUrl?: string | undefined;
}

/** Sends emails through a mail server. */
type SendMail = (mail: OutgoingMail, signal: AbortSignal) => Promise<MailFailure | undefined>;

/** Reason why an email was not sent. */
interface MailFailure {
  /** Permanent, temporary, or because the server accepts no emails at all. */
  readonly kind: "refused" | "deferred" | "unreachable";
  readonly code: string | undefined;
  readonly status: number | undefined;
}

/** Outcome of an attempt. */
export const MAIL_OUTCOMES = ["sent", "refused", "deferred", "unreachable"] as const;
export type MailOutcome = (typeof MAIL_OUTCOMES)[number];

/** State of a queued email. */
export const QUEUED_STATES = ["waiting", "sent", "failed"] as const;

/** Dependencies of sending emails. */
export interface SendMailsDeps {
  readonly em: EntityManager;
  readonly log: Logger;
  readonly send: SendMail;
  readonly publicUrl: string;
  /** Returns a number from 0 to 1, which spreads attempts. */
  readonly random: () => number;
  readonly countAttempt: (outcome: MailOutcome) => void;
  /** Called for each email that is given up. */
  readonly countFailure: () => void;
}

/** An email that only this process attempts. */
export interface LeasedMail {
  /** Including the current one. */
  readonly attempts: number;
  readonly createdMs: number;
  readonly ageMs: number;
}

/** A table of emails, with the columns `state`, `attempts`, `created_at` and `next_attempt_at`. */
export interface MailQueue<Mail extends LeasedMail> extends Pick<
  LeasedQueue<WorkItem>,
  "ofWorkspace" | "find"
> {
  readonly table: string;
  readonly key: readonly string[];
  /** SQL for the columns of an email besides those of its lease. */
  readonly columns: string;
  keyOf(item: WorkItem): readonly unknown[];
  /** Time after which an email is no longer sent, in milliseconds. */
  lifetimeMs(mail: Mail): number;
  /**
   * Writes an email. `undefined` if it must not be sent any more.
   *
   * @returns the email with a function that undoes the writing if it is not sent
   */
  write(
    mail: Mail,
  ): Promise<{ readonly mail: OutgoingMail; undo?(): Promise<unknown> } | undefined>;
}

/** Maximum number of concurrent emails per table in this process. */
export const AT_ONCE = 4;
/** Duration of a lease in seconds, longer than an attempt. */
const LEASE_SECONDS = 60;
/** Wait after the first attempt, and maximum wait, in milliseconds. Doubles each time. */
const FIRST_WAIT_MS = 5_000;
const MAX_WAIT_MS = 5 * 60_000;
/** Maximum share by which a wait is extended. */
const JITTER = 0.1;
/** First and maximum pause of a process that cannot reach the server, in milliseconds. */
const FIRST_REST_MS = 1_000;
const MAX_REST_MS = 60_000;
/** Delay after a database error, in milliseconds. */
const RETRY_MS = 1_000;

function statementsOf({ table, key, columns }: MailQueue<never>) {
  const isIt = key.map((column, i) => `${column} = $${i + 1}`).join(" and ");
  const next = key.length + 2;
  /** Unless the lease has expired and another process has taken it, which counts an attempt. */
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
 * Creates the workers that send the emails of a table. A lease moves the next attempt past the
 * longest duration of an attempt. So other processes take over the emails of a crashed process, and
 * two never send the same one. An email is duplicated only if a process dies between the server's
 * response and recording it. Both copies have the same Message-ID.
 *
 * While the server is unreachable, a process attempts a few emails, with a backoff of up to a
 * minute. An email has failed when the server refuses it, or when its lifetime has passed.
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

  /**
   * Tries to send an email, and records the outcome.
   *
   * @returns `undefined` if it must not be sent any more
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
    // Without the address and the server's text, which often contains it.
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
    (error) => log.warn({ err: error }, "sending emails was interrupted"),
  );
}

/** Raw times, because a distributed database accepts no time zone functions in `returning`. */
interface LeaseTimes {
  readonly createdAt: Date | string;
  readonly leasedUntil: Date | string;
}

/** By the database's clock. */
function agesOf({ createdAt, leasedUntil }: LeaseTimes): Omit<LeasedMail, "attempts"> {
  const createdMs = new Date(createdAt).getTime();
  const leasedMs = new Date(leasedUntil).getTime() - LEASE_SECONDS * 1_000;
  return { createdMs, ageMs: leasedMs - createdMs };
}

/** Returns the wait after this number of attempts, in milliseconds. */
function nextWaitMs(attempts: number, random: number): number {
  const waitMs = Math.min(FIRST_WAIT_MS * 2 ** (attempts - 1), MAX_WAIT_MS);
  return Math.round(waitMs * (1 + JITTER * random));
}

/** Updates an email, with retries until the database accepts it, because an unrecorded email would be sent twice. */
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

/** Returns the Message-ID of an email. With the host it is globally unique (RFC 5322, section 3.6.4). */
export function messageIdOf(name: string, publicUrl: string): string {
  return `<${name}@${new URL(publicUrl).hostname}>`;
}
