import { type Refusal, refuse, unavailable } from "../domain/refusal.ts";

/**
 * SQLSTATE codes and classes that mean "not now": connection trouble, shutdown, too busy, timed
 * out, deadlock, or a server that has become a standby (25006).
 */
const TRANSIENT_SQLSTATE = /^(08...|57P0[1-5]|57014|53...|55P03|40001|40P01|25006|25P0[34])$/;

/** Node's and pg's ways to say that the connection failed. */
const TRANSIENT_NODE_CODE =
  /^(ECONNREFUSED|ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$/;
const TRANSIENT_MESSAGE =
  /Connection terminated|timeout exceeded when trying to connect|^timeout expired$|Query read timeout|Client has encountered a connection error|Client was closed|Connection ended unexpectedly|There was an error establishing an SSL connection|Cannot use a pool after calling end on the pool|driver has already been destroyed/;

/** What pg says when it gives up waiting for a query. */
export const QUERY_TIMEOUT = "Query read timeout";

/** Whether a query was given up, which goes on in the database. */
export function isQueryTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === QUERY_TIMEOUT;
}

/**
 * Whether a prepared statement no longer gives the columns that it was prepared for, because a
 * migration changed a table: "cached plan must not change result type".
 */
export function isStalePlan(error: unknown): boolean {
  return sqlStateOf(error) === "0A000" && /cached plan/.test((error as Error).message);
}

/** Whether a server refused to write, because it is a standby or was told to. */
export function isReadOnly(error: unknown): boolean {
  return sqlStateOf(error) === "25006";
}

const MAX_DEPTH = 8;

/** A write waited too long for a transaction, and was not made. */
export class OverloadedError extends Error {
  constructor(options?: ErrorOptions) {
    super("the database has more to write than it can", options);
  }
}

/** A server that was connected to takes no writes. */
export class ReadOnlyServerError extends Error {
  /** The SQLSTATE that its refusal of a write would have: read_only_sql_transaction. */
  readonly code = "25006";
}

/** Servers take writes of which none can be told to be the primary. */
export class UndecidedPrimaryError extends Error {
  /** As of a server that rejects a connection: sqlserver_rejected_establishment_of_sqlconnection. */
  readonly code = "08004";
  readonly wayOut: string;

  constructor(reason: string, wayOut: string) {
    super(reason);
    this.wayOut = wayOut;
  }
}

/** A commit took place on the primary and is on no synchronous standby yet: it may still be lost. */
export class UnreplicatedCommitError extends Error {
  constructor() {
    super("the wait of a commit for a synchronous standby was cancelled");
  }
}

/**
 * Whether an error of the database passes by itself: it is unreachable, shutting down or overloaded,
 * and the caller should try again. Anything else is a defect or a broken rule.
 */
export function isTransientDatabaseError(error: unknown): boolean {
  return causesOf(error).some(isTransientByItself);
}

function isTransientByItself(error: Error): boolean {
  const { code } = error as { code?: unknown };
  if (typeof code === "string") {
    if (TRANSIENT_SQLSTATE.test(code) || TRANSIENT_NODE_CODE.test(code)) return true;
  }
  if (error instanceof AggregateError && error.errors.some(isTransientDatabaseError)) return true;
  if (error instanceof OverloadedError || error instanceof UnreplicatedCommitError) return true;
  return isStalePlan(error) || TRANSIENT_MESSAGE.test(error.message);
}

/** An error and the causes behind it, the outermost first. */
function causesOf(error: unknown): Error[] {
  const causes: Error[] = [];
  for (let it = error; it instanceof Error && causes.length < MAX_DEPTH; it = it.cause) {
    causes.push(it);
  }
  return causes;
}

/** Whether the database ended a statement that took longer than it may. */
export function isStatementTimeout(error: unknown): boolean {
  return causesOf(error).some((cause) => sqlStateOf(cause) === "57014");
}

/**
 * The refusal of a call that failed by an error of the database that passes by itself; undefined for any other error. A
 * full disk passes when the operator makes room.
 */
export function databaseRefusal(error: unknown): Refusal | undefined {
  if (!isTransientDatabaseError(error)) return undefined;
  if (isStatementTimeout(error)) return refuse("REQUEST_TOO_SLOW", { cause: error });
  return unavailable(unavailableText(causesOf(error)), error);
}

function unavailableText(causes: readonly Error[]): string {
  if (causes.some((cause) => sqlStateOf(cause) === "53100")) {
    return "The service's database has no space left on its disk; try again later.";
  }
  if (causes.some(isReadOnly)) {
    return "The service's database is read-only now, so nothing can be changed; try again later.";
  }
  return causes.some((cause) => isContention(cause) || isCollision(cause))
    ? "The service is busy with other calls; try again in a moment."
    : "The service cannot reach its database; try again in a moment.";
}

/**
 * Whether the database gave up a transaction because another was in its way: a lock not had in
 * time, a deadlock, rows that changed meanwhile.
 */
export function isContention(error: unknown): boolean {
  return /^(55P03|40P01|40001)$/.test(sqlStateOf(error));
}

/** Whether another transaction wrote the same key, or deleted what is referred to. */
export function isCollision(error: unknown): boolean {
  return isUniqueViolation(error) || isForeignKeyViolation(error);
}

export function isUniqueViolation(error: unknown): boolean {
  return sqlStateOf(error) === "23505";
}

export function isForeignKeyViolation(error: unknown): boolean {
  return sqlStateOf(error) === "23503";
}

/** Whether a value cannot be stored as what it is meant to be, or is too large for it. */
export function isUnstorable(error: unknown): boolean {
  return /^(22|54)/.test(sqlStateOf(error));
}

export function isForbidden(error: unknown): boolean {
  return sqlStateOf(error) === "42501";
}

export function isUnsupported(error: unknown): boolean {
  return /^(42883|0A000)$/.test(sqlStateOf(error));
}

function sqlStateOf(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === "string" ? code : "";
}
