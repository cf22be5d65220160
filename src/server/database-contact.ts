import type { Logger } from "pino";
import { DEFAULT_MAX_DATABASE_OUTAGE_SECONDS, type Config } from "../config/config.ts";
import { describeError } from "../db/connection-fault.ts";
import {
  isContention,
  isStatementTimeout,
  isTransientDatabaseError,
} from "../db/database-error.ts";

/** Knows whether this process reaches its database, and says when it does not. */
export interface DatabaseContact {
  /** Notes that the database has answered. */
  reached(): void;
  /** How long ago it last did, in seconds; before it ever has, how long ago the process started. */
  ageSeconds(): number;
  /** Why the service is not ready: it has been without its database for too long; else undefined. */
  lostBecause(): string | undefined;
  /**
   * The log, in which warnings of a database that is away become one line, "database unavailable": at
   * once, then every ten seconds with how many were left out, since each call would have its own. The
   * first has the error in full, the others its words alone.
   */
  readonly log: Logger;
}

/** How often it is said that the database is away, in milliseconds. */
const SAY_MS = 10_000;
/** An absence that is shorter is not worth a word at its end, in seconds. */
const MIN_SECONDS = 2;

export function createDatabaseContact(options: {
  readonly log: Logger;
  /** A clock that never goes back. */
  readonly nowMs?: (() => number) | undefined;
  /** Tells how long the database may be away before `lostBecause` says so. */
  readonly config: Partial<Pick<Config, "maxDatabaseOutageSeconds">>;
}): DatabaseContact {
  const { nowMs = () => performance.now() } = options;
  const { maxDatabaseOutageSeconds: maxSeconds = DEFAULT_MAX_DATABASE_OUTAGE_SECONDS } =
    options.config;
  let reachedMs = nowMs();
  let saidMs = -Infinity;
  let notLogged = 0;
  /** Whether anything has failed since the database last answered. */
  let isAway = false;

  function warn(fields: { readonly err?: unknown }, during: string): void {
    const { err, ...others } = fields;
    if (!isTransientDatabaseError(err) || isStatementTimeout(err))
      return options.log.warn(fields, during);
    // A database that is busy answers.
    isAway ||= !isContention(err);
    if (nowMs() - saidMs < SAY_MS) return void notLogged++;
    const told = saidMs >= reachedMs ? { ...others, reason: describeError(err) } : fields;
    saidMs = nowMs();
    options.log.warn({ ...told, during, notLogged }, "database unavailable");
    notLogged = 0;
  }

  const ageSeconds = () => Math.max(0, nowMs() - reachedMs) / 1_000;
  return {
    reached() {
      const seconds = ageSeconds();
      reachedMs = nowMs();
      // Without a failure it was this process that asked late, such as while it loads a large tariff.
      if (isAway && seconds >= MIN_SECONDS) {
        options.log.info({ seconds, notLogged }, "database reached");
        saidMs = -Infinity;
        notLogged = 0;
      }
      isAway = false;
    },
    ageSeconds,
    lostBecause: () =>
      maxSeconds > 0 && ageSeconds() >= maxSeconds ? "cut off from its database" : undefined,
    log: Object.assign(Object.create(options.log) as Logger, { warn }),
  };
}
