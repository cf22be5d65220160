import { accessSync, constants } from "node:fs";

export interface DatabaseServers {
  /** One URL per server, each with a single host, in order. */
  readonly urls: readonly string[];
  /** Requirement for the server to use. `undefined` for a single server, which is not checked. */
  readonly target: ServerTarget | undefined;
}

/**
 * Requirement for a server, as in libpq's `target_session_attrs`: `primary` is not a standby, and
 * `read-write` also has `default_transaction_read_only` off.
 */
export type ServerTarget = (typeof TARGETS)[number];

const TARGETS = ["read-write", "primary"] as const;

/** Values of `sslmode` that pg supports. pg treats all other values as `verify-full`. */
const SSL_MODES = ["disable", "no-verify", "prefer", "require", "verify-ca", "verify-full"];

/** Captures the scheme, user and password, hosts, and database with parameters. */
const PARTS = /^(postgres(?:ql)?:\/\/)([^/?#]*@)?([^/?#]*)(.*)$/s;

/**
 * Parses a URL as libpq does: `postgres://user:password@a:5432,b:5432/database`. With several hosts the service
 * needs a writable server, so `target_session_attrs` defaults to `read-write`. `primary` is also accepted.
 *
 * @see https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-MULTIPLE-HOSTS
 */
export function parseDatabaseUrl(databaseUrl: string): DatabaseServers {
  const [, scheme = "", user = "", hosts = "", rest = ""] = PARTS.exec(databaseUrl) ?? [];
  const requested = new URLSearchParams(/\?([^#]*)/.exec(rest)?.[1]).get("target_session_attrs");
  if (!hosts.includes(",")) {
    return { urls: [databaseUrl], target: TARGETS.find((target) => target === requested) };
  }
  const urls = hosts.split(",").map((host) => `${scheme}${user}${host}${rest}`);
  return { urls, target: requested === "primary" ? "primary" : "read-write" };
}

/** Describes what is wrong with a URL, without quoting it. Returns `undefined` for a valid URL. */
export function databaseUrlError(databaseUrl: string): string | undefined {
  const unescaped = unescapedIn(databaseUrl);
  if (unescaped.length > 0) {
    const fixes = unescaped.map((sign) => `${sign} as ${encodeURIComponent(sign)}`);
    return `must have special characters in its user and password escaped: write ${fixes.join(", ")}`;
  }
  const { urls } = parseDatabaseUrl(databaseUrl);
  const wrong = urls.findIndex((url) => !isDatabaseUrl(url, urls.length > 1));
  if (wrong >= 0 && urls.length > 1) {
    const form = "postgres://user:password@first:5432,second:5432/database";
    return `must be an address such as ${form}, and host ${wrong + 1} of ${urls.length} is not`;
  }
  if (wrong >= 0) return "must be an address such as postgres://user:password@host:5432/database";
  const { searchParams } = new URL(urls[0]!);
  // For every server, pg prefers these parameters to the host part.
  const isOverridden = (name: string) =>
    urls.length > 1 ? searchParams.has(name) : searchParams.get(name)?.includes(",");
  if (["host", "port"].some(isOverridden)) {
    return "must name several hosts and their ports before the database, not by host= or port=";
  }
  if (!SSL_MODES.includes(searchParams.get("sslmode") ?? "disable")) {
    return `must have a supported sslmode: ${SSL_MODES.join(", ")}`;
  }
  const allowed: readonly (string | null)[] = [...TARGETS, null, ...(urls.length > 1 ? [] : ["any"])];
  return allowed.includes(searchParams.get("target_session_attrs"))
    ? unreadableFile(searchParams)
    : "must have the target_session_attrs read-write or primary, since the service writes";
}

/**
 * Returns the unescaped characters before the last @, which belong to the user and password because an
 * @ elsewhere occurs only in parameter values. Includes % without two hexadecimal digits.
 */
function unescapedIn(databaseUrl: string): string[] {
  const [, beforeHost = ""] = /^postgres(?:ql)?:\/\/(.*)@/s.exec(withoutParameters(databaseUrl)) ?? [];
  const signs = ["#", "/", "?"].filter((sign) => beforeHost.includes(sign));
  return /%(?![\da-f]{2})/i.test(beforeHost) ? [...signs, "%"] : signs;
}

/** Removes parameters such as `?user=ada@example` from a URL. */
function withoutParameters(databaseUrl: string): string {
  return databaseUrl.replace(/(?:\?|&)\w+=[^&]*/g, "");
}

function unreadableFile(parameters: URLSearchParams): string | undefined {
  const unreadable = ["sslrootcert", "sslcert", "sslkey"].find((name) => {
    try {
      const path = parameters.get(name);
      if (path !== null) accessSync(path, constants.R_OK);
      return false;
    } catch {
      return true;
    }
  });
  return unreadable && `must name a readable file in ${unreadable}`;
}

/** Whether the URL names a database and pg can parse it, including percent-encoding. */
function isDatabaseUrl(text: string, needsHost: boolean): boolean {
  if (!/^postgres(ql)?:\/\//.test(text) || !URL.canParse(text)) return false;
  const { username, password, hostname, pathname } = new URL(text);
  try {
    decodeURIComponent(`${username}${password}`);
    return decodeURIComponent(pathname).length > "/".length && !(needsHost && hostname === "");
  } catch {
    return false;
  }
}

/** Returns the host and port of each server, without the password: `a:5432, b:5432`. */
export function hostText(databaseUrl: string): string {
  return parseDatabaseUrl(databaseUrl).urls.map(serverHostText).join(", ");
}

function serverHostText(url: string): string {
  const { hostname, port } = new URL(url);
  return `${hostname || "localhost"}:${port || "5432"}`;
}
