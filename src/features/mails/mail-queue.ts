import type { Logger } from "pino";
import { type LeasedQueue, persist, type WorkItem } from "../../db/leased-queue.ts";
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

const OUTCOMES = ["sent", "refused", "deferred", "unreachable", "expired", "lost"] as const;
type MailOutcome = (typeof OUTCOMES)[number];

export const QUEUED_STATES = ["waiting", "sent", "failed"] as const;

export interface SendMailsDeps {
  readonly em: EntityManager;
  readonly log: Logger;
  readonly send: SendMail;
  readonly publicUrl: string;
  /** Returns a random number from 0 to 1, used to spread retries. */
  readonly random: () => number;
  /** Aborts the attempts in flight. */
  readonly givingUp: AbortSignal;
}

/** An email leased by this process, so that no other process sends it. */
export interface LeasedMail {
  /** Number of attempts, including the current one. */
  readonly attempts: number;
  readonly createdMs: number;
  readonly ageMs: number;
}

/** A table of emails with the columns `state`, `attempts`, `created_at` and `next_attempt_at`. */
export interface MailTable<Mail extends LeasedMail> extends Pick<LeasedQueue, "name" | "find"> {
  readonly table: string;
  readonly key: readonly string[];
  /** SQL for the columns of an email, without the lease columns. */
  readonly columns: string;
  /** Maximum number of emails that this process sends concurrently for a workspace. */
  readonly workspaceConcurrency: number;
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

function statementsOf({ table, key, columns }: MailTable<never>) {
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
 * Creates the queue that sends the emails of a table. A lease postpones the email's next attempt beyond the longest
 * possible attempt. Two processes therefore never send the same email, and other processes take over the emails of a
 * crashed process. An email is sent twice only if a process dies between receiving the server's response and recording
 * it. Both copies have the same Message-ID. An email fails if the server refuses it or its lifetime has passed.
 */
export function createMailQueue<Mail extends LeasedMail>(table: MailTable<Mail>, deps: SendMailsDeps): LeasedQueue {
  const { em, log, givingUp } = deps;
  const sql = statementsOf(table);

  /** Tries to send an email and records the outcome. Returns `undefined` if the email must no longer be sent. */
  async function attempt(key: readonly unknown[], mail: Mail): Promise<MailOutcome | undefined> {
    const note = (statement: string, ...values: unknown[]) =>
      persist(() => runStatement(em, statement, [...key, mail.attempts, ...values]), givingUp);
    if (mail.ageMs > table.lifetimeMs(mail)) {
      await note(sql.end, "failed");
      return "expired";
    }
    const written = await table.write(mail);
    if (written === undefined) {
      await note(sql.forget);
      return undefined;
    }
    const failure = await deps.send(written.mail, givingUp);
    if (failure === undefined) {
      await note(sql.end, "sent");
      return "sent";
    }
    // Does not log the recipient's address or the server's text, which often contains the address.
    const { messageId } = written.mail;
    log.warn({ mail: messageId, attempts: mail.attempts, ...failure }, "an email was not sent");
    await written.undo?.().catch(() => undefined);
    if (failure.kind === "refused") await note(sql.end, "failed");
    else await note(sql.putOff, nextWaitMs(mail.attempts, deps.random()));
    return failure.kind;
  }

  return {
    name: table.name,
    outcomes: OUTCOMES,
    concurrency: { total: CONCURRENCY, perWorkspace: table.workspaceConcurrency },
    find: table.find,
    async work(item) {
      const key = table.keyOf(item);
      const [leased] = await runStatement<Mail & LeaseTimes>(em, sql.lease, key);
      return leased === undefined ? "lost" : attempt(key, { ...leased, ...agesOf(leased) });
    },
    close: (idle) => idle(),
  };
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

/** Returns the Message-ID of an email. The host makes it globally unique (RFC 5322, section 3.6.4). */
export function messageIdOf(name: string, publicUrl: string): string {
  return `<${name}@${new URL(publicUrl).hostname}>`;
}
