import { isTransientDatabaseError, UndecidedPrimaryError } from "./database-error.ts";
import { hostText } from "./database-url.ts";

/** Reason why the database cannot be used, in one sentence for the operator. */
export class ConnectionError extends Error {
  /** Cause and fix, without mentioning the database. */
  readonly reason: string;
  /** Whether the condition is temporary, so that the caller can retry. */
  readonly mayPass: boolean;

  constructor(reason: string, mayPass: boolean, cause?: unknown) {
    super(`cannot use the database: ${reason}`, { cause });
    this.reason = reason;
    this.mayPass = mayPass;
  }
}

/** Oldest supported PostgreSQL version, in the format of `server_version_num`. */
const OLDEST_VERSION = 15_00_00;

/** Fixes by SQLSTATE or Node error code. */
const ADVICE: Readonly<Record<string, string>> = {
  "28P01": "correct the user and password in DATABASE_URL",
  "28000": "correct the user or the sslmode in DATABASE_URL, or allow the connection in pg_hba.conf",
  "3D000": "create it, or name another in DATABASE_URL",
  "42501": "grant the privilege to the user in DATABASE_URL, or migrate as the owner of the tables",
  ...Object.fromEntries(
    [
      "DEPTH_ZERO_SELF_SIGNED_CERT",
      "SELF_SIGNED_CERT_IN_CHAIN",
      "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
      "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
    ].map((code) => [code, "set sslrootcert in DATABASE_URL to its CA certificate"]),
  ),
  ERR_TLS_CERT_ALTNAME_INVALID: "use the certificate's host name in DATABASE_URL",
  ENOTFOUND: "correct the host in DATABASE_URL",
  ECONNREFUSED: "start PostgreSQL there, or correct DATABASE_URL",
  "25006": "promote one, or correct DATABASE_URL",
};

/** Describes why a connection failed, or which privilege the database user lacks. */
export function connectionError(error: unknown, databaseUrl: string): ConnectionError {
  if (error instanceof ConnectionError) return error;
  const { reason, advice, mayPass } = explain(error, databaseUrl);
  return new ConnectionError(`${reason}; ${advice}`, mayPass, error);
}

/** Describes why no server in a list can be used. */
export function noPrimaryError(
  failures: readonly { readonly url: string; readonly error: unknown }[],
): ConnectionError {
  const explained = failures.map(({ url, error }) => explain(error, url));
  const reasons = new Set(explained.map(({ reason }) => reason));
  const mayPass = explained.some((one) => one.mayPass);
  const { advice } = explained.findLast((one) => one.mayPass === mayPass)!;
  const errors = failures.map(({ error }) => error);
  return new ConnectionError(`${[...reasons].join(", ")}; ${advice}`, mayPass, new AggregateError(errors));
}

function explain(error: unknown, databaseUrl: string) {
  const { code = "", message } = firstOf(error);
  const isUndecided = error instanceof UndecidedPrimaryError;
  const advice = isUndecided ? error.advice : (ADVICE[code] ?? "check DATABASE_URL");
  // The message comes from pg and does not name the server.
  const timedOut = message === "timeout expired";
  const cut = message === "Connection terminated unexpectedly";
  const mayPass = code !== "ENOTFOUND" && (timedOut || isTransientDatabaseError(error));
  const behaviour = timedOut ? "does not respond" : "closes the connection at once";
  const reason = timedOut || cut ? `${hostText(databaseUrl)} ${behaviour}` : describeError(error);
  const right = missingPrivilege(reason);
  return { reason: right ? `${reason}, which requires ${right}` : reason, advice, mayPass };
}

/** Returns the missing privilege, which PostgreSQL's message does not name. `undefined` for other messages. */
function missingPrivilege(reason: string): string | undefined {
  const [, kind] = /^permission denied for (schema|database) /.exec(reason) ?? [];
  if (kind === undefined) return undefined;
  return kind === "schema" ? "CREATE" : "CONNECT";
}

/** @throws ConnectionError if the version, as in `server_version_num`, is older than 15 */
export function assertVersion(version: number, databaseUrl: string): void {
  if (version >= OLDEST_VERSION) return;
  const found = version >= 10_00_00 ? Math.floor(version / 10_000) : version / 10_000;
  const needed = OLDEST_VERSION / 10_000;
  const reason = `${hostText(databaseUrl)} is PostgreSQL ${Math.floor(found)}`;
  throw new ConnectionError(`${reason}, and the service needs ${needed} or newer; set DATABASE_URL to one`, false);
}

/**
 * Describes an error briefly. Node's AggregateError for a host with several addresses has no message, so the errors in
 * it are described instead.
 */
export function describeError(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(describeError).join(", ");
  const { code, message, address, port, hostname } = firstOf(error);
  if (code === "ECONNREFUSED") return `no server listens at ${address}:${port}`;
  if (code === "ENOTFOUND") return `there is no host ${hostname}`;
  return message;
}

interface SystemError extends Error {
  readonly code?: string;
  readonly address?: string;
  readonly port?: number;
  readonly hostname?: string;
}

function firstOf(error: unknown): SystemError {
  if (error instanceof AggregateError) return firstOf(error.errors[0]);
  return error instanceof Error ? error : new Error(String(error));
}
