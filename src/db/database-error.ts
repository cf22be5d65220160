import { type Refusal, refuse, unavailable } from "../domain/refusal.ts";

/**
 * SQLSTATE codes and classes of temporary conditions: connection errors, shutdown, overload,
 * timeout, deadlock, or a server that has become a standby (25006).
 */
const TRANSIENT_SQLSTATE = /^(08...|57P0[1-5]|57014|53...|55P03|40001|40P01|25006|25P0[34])$/;

/** Codes of connection errors from Node and pg. */
const TRANSIENT_NODE_CODE =
  /^(ECONNREFUSED|ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$/;
const TRANSIENT_MESSAGE =
  /Connection terminated|timeout exceeded when trying to connect|^timeout expired$|Query read timeout|Client has encountered a connection error|Client was closed|Connection ended unexpectedly|There was an error establishing an SSL connection|Cannot use a pool after calling end on the pool|driver has already been destroyed/;

/**
 * Whether a prepared statement is stale because a migration changed a table: "cached plan must not
 * change result type".
 */
export function isStalePlan(error: unknown): boolean {
  return sqlStateOf(error) === "0A000" && /cached plan/.test((error as Error).message);
}

/** Whether a server rejected a write because it is a standby or read-only. */
export function isReadOnly(error: unknown): boolean {
  return sqlStateOf(error) === "25006";
}

const MAX_DEPTH = 8;

/** Thrown if a write waited too long for a transaction and was not executed. */
export class OverloadedError extends Error {
  constructor(options?: ErrorOptions) {
    super("the database cannot keep up with writes", options);
  }
}

/** Thrown if a connected server is read-only. */
export class ReadOnlyServerError extends Error {
  /** SQLSTATE of a rejected write: read_only_sql_transaction. */
  readonly code = "25006";
}

/** Thrown if several servers accept writes and the primary cannot be determined. */
export class UndecidedPrimaryError extends Error {
  /** SQLSTATE sqlserver_rejected_establishment_of_sqlconnection. */
  readonly code = "08004";
  readonly advice: string;

  constructor(reason: string, advice: string) {
    super(reason);
    this.advice = advice;
  }
}

/** Thrown if a commit succeeded on the primary but reached no synchronous standby. The commit can still be lost. */
export class UnreplicatedCommitError extends Error {
  constructor() {
    super("the wait of a commit for a synchronous standby was cancelled");
  }
}

/**
 * Whether a database error is temporary: the database is unreachable, shutting down or overloaded,
 * and the caller should retry. Other errors are defects or violated rules.
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

/** Returns an error and its causes, outermost first. */
function causesOf(error: unknown): Error[] {
  const causes: Error[] = [];
  for (let it = error; it instanceof Error && causes.length < MAX_DEPTH; it = it.cause) {
    causes.push(it);
  }
  return causes;
}

/** Whether the database canceled a statement that exceeded its timeout. */
export function isStatementTimeout(error: unknown): boolean {
  return causesOf(error).some((cause) => sqlStateOf(cause) === "57014");
}

/**
 * Returns the refusal of a call that failed because of a temporary database error. `undefined` for
 * other errors. A full disk counts as temporary, because the operator can free space.
 */
export function databaseRefusal(error: unknown): Refusal | undefined {
  if (!isTransientDatabaseError(error)) return undefined;
  if (isStatementTimeout(error)) return refuse("REQUEST_TOO_SLOW", { cause: error });
  return unavailable(unavailableText(causesOf(error)), error);
}

function unavailableText(causes: readonly Error[]): string {
  if (causes.some((cause) => sqlStateOf(cause) === "53100")) {
    return "The service's database has no space left on its disk. Try again later.";
  }
  if (causes.some(isReadOnly)) {
    return "The service's database is read-only, so changes are refused. Try again later.";
  }
  return causes.some((cause) => isContention(cause) || isCollision(cause))
    ? "The service is busy with other calls. Try again in a moment."
    : "The service cannot reach its database. Try again in a moment.";
}

/** Whether a transaction failed because of a concurrent one: lock timeout, deadlock or serialization failure. */
export function isContention(error: unknown): boolean {
  return /^(55P03|40P01|40001)$/.test(sqlStateOf(error));
}

/** Whether another transaction wrote the same key or deleted a referenced row. */
export function isCollision(error: unknown): boolean {
  return isUniqueViolation(error) || isForeignKeyViolation(error);
}

export function isUniqueViolation(error: unknown): boolean {
  return sqlStateOf(error) === "23505";
}

export function isForeignKeyViolation(error: unknown): boolean {
  return sqlStateOf(error) === "23503";
}

/** Whether a value has the wrong type or is too large. */
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
