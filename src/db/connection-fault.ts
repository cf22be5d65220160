import { isTransientDatabaseError, UndecidedPrimaryError } from "./database-error.ts";
import { placeOf } from "./database-url.ts";

/** Why the database cannot be used, in one sentence for the operator. */
export class ConnectionFault extends Error {
  /** The reason and the way out, without saying that it is about the database. */
  readonly reason: string;
  /** Whether it may pass by itself, so that another try is worth it. */
  readonly mayPass: boolean;

  constructor(reason: string, mayPass: boolean, cause?: unknown) {
    super(`cannot use the database: ${reason}`, { cause });
    this.reason = reason;
    this.mayPass = mayPass;
  }
}

/** The oldest PostgreSQL that the service works with, as in `server_version_num`. */
const OLDEST_VERSION = 15_00_00;

/** What to do about an error, by its SQLSTATE or Node's code. */
const WAYS_OUT: Readonly<Record<string, string>> = {
  "28P01": "correct the user and password in DATABASE_URL",
  "28000": "correct the user or the sslmode in DATABASE_URL, or let it in by pg_hba.conf",
  "3D000": "create it, or name another in DATABASE_URL",
  "42501": "grant that to the user of DATABASE_URL, or migrate as the owner of the tables",
  ...Object.fromEntries(
    [
      "DEPTH_ZERO_SELF_SIGNED_CERT",
      "SELF_SIGNED_CERT_IN_CHAIN",
      "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
      "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
    ].map((code) => [code, "name its authority's certificate by sslrootcert in DATABASE_URL"]),
  ),
  ERR_TLS_CERT_ALTNAME_INVALID: "name the server in DATABASE_URL as its certificate does",
  ENOTFOUND: "correct the host in DATABASE_URL",
  ECONNREFUSED: "start PostgreSQL there, or correct DATABASE_URL",
  "25006": "promote one, or correct DATABASE_URL",
};

/** Says why a connection could not be made, or what its user may not do. */
export function connectionFault(error: unknown, databaseUrl: string): ConnectionFault {
  if (error instanceof ConnectionFault) return error;
  const { reason, wayOut, mayPass } = explain(error, databaseUrl);
  return new ConnectionFault(`${reason}; ${wayOut}`, mayPass, error);
}

/** Says why none of several servers can be used. */
export function noPrimaryFault(
  failures: readonly { readonly url: string; readonly error: unknown }[],
): ConnectionFault {
  const explained = failures.map(({ url, error }) => explain(error, url));
  const reasons = new Set(explained.map(({ reason }) => reason));
  const mayPass = explained.some((one) => one.mayPass);
  const { wayOut } = explained.findLast((one) => one.mayPass === mayPass)!;
  const errors = failures.map(({ error }) => error);
  return new ConnectionFault(
    `${[...reasons].join(", ")}; ${wayOut}`,
    mayPass,
    new AggregateError(errors),
  );
}

function explain(error: unknown, databaseUrl: string) {
  const { code = "", message } = firstOf(error);
  const isUndecided = error instanceof UndecidedPrimaryError;
  const wayOut = isUndecided ? error.wayOut : (WAYS_OUT[code] ?? "check DATABASE_URL");
  // The client's own words, which do not name the server.
  const timedOut = message === "timeout expired";
  const cut = message === "Connection terminated unexpectedly";
  const mayPass = code !== "ENOTFOUND" && (timedOut || isTransientDatabaseError(error));
  const behaviour = timedOut ? "does not answer" : "closes the connection at once";
  const reason = timedOut || cut ? `${placeOf(databaseUrl)} ${behaviour}` : describeError(error);
  const right = rightOn(reason);
  return { reason: right ? `${reason}, which takes ${right}` : reason, wayOut, mayPass };
}

/** The right that PostgreSQL's words of a refusal leave out; undefined when they tell, or are others. */
function rightOn(reason: string): string | undefined {
  const [, kind] = /^permission denied for (schema|database) /.exec(reason) ?? [];
  if (kind === undefined) return undefined;
  return kind === "schema" ? "CREATE" : "CONNECT";
}

/** @throws ConnectionFault when the version, as in `server_version_num`, is older than 15 */
export function assertVersion(version: number, databaseUrl: string): void {
  if (version >= OLDEST_VERSION) return;
  const given = version >= 10_00_00 ? Math.floor(version / 10_000) : version / 10_000;
  const needed = OLDEST_VERSION / 10_000;
  const reason = `${placeOf(databaseUrl)} is PostgreSQL ${Math.floor(given)}`;
  throw new ConnectionFault(
    `${reason}, and the service needs ${needed} or newer; set DATABASE_URL to one`,
    false,
  );
}

/** An error in a few words: Node gathers those of a host with several addresses, and says nothing itself. */
export function describeError(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(describeError).join(", ");
  const { code, message, address, port, hostname } = firstOf(error);
  if (code === "ECONNREFUSED") return `nothing listens at ${address}:${port}`;
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
