import type { Logger } from "pino";
import { DEFAULT_MAX_DATABASE_OUTAGE_SECONDS, type Config } from "../config/config.ts";
import { describeError } from "../db/connection-error.ts";
import { isContention, isStatementTimeout, isTransientDatabaseError } from "../db/database-error.ts";

/** Tracks whether the database is reachable and logs outages. */
export type DatabaseContact = ReturnType<typeof createDatabaseContact>;

/** Interval between log lines during an outage, in milliseconds. */
const LOG_MS = 10_000;
/** Minimum duration of an outage, in seconds, for its end to be logged. */
const MIN_SECONDS = 2;

export function createDatabaseContact(options: {
  readonly log: Logger;
  /** Monotonic clock, in milliseconds. */
  readonly nowMs?: (() => number) | undefined;
  /** Contains the duration of an outage after which `lostReason` returns a reason. */
  readonly config: Partial<Pick<Config, "maxDatabaseOutageSeconds">>;
}) {
  const { nowMs = () => performance.now() } = options;
  const { maxDatabaseOutageSeconds: maxSeconds = DEFAULT_MAX_DATABASE_OUTAGE_SECONDS } = options.config;
  let reachedMs = nowMs();
  let loggedMs = -Infinity;
  let notLogged = 0;
  /** Whether an operation has failed since the last response. */
  let isAway = false;

  function warn(fields: { readonly err?: unknown }, during: string): void {
    const { err, ...others } = fields;
    if (!isTransientDatabaseError(err) || isStatementTimeout(err)) return options.log.warn(fields, during);
    // Contention errors mean that the database responds.
    isAway ||= !isContention(err);
    if (nowMs() - loggedMs < LOG_MS) return void notLogged++;
    const logged = loggedMs >= reachedMs ? { ...others, reason: describeError(err) } : fields;
    loggedMs = nowMs();
    options.log.warn({ ...logged, during, notLogged }, "database unavailable");
    notLogged = 0;
  }

  const ageSeconds = () => Math.max(0, nowMs() - reachedMs) / 1_000;
  return {
    reached(): void {
      const seconds = ageSeconds();
      reachedMs = nowMs();
      // If no operation failed, this process was busy, for example loading a large tariff, and the database was
      // reachable.
      if (isAway && seconds >= MIN_SECONDS) {
        options.log.info({ seconds, notLogged }, "database reached");
        loggedMs = -Infinity;
        notLogged = 0;
      }
      isAway = false;
    },
    /** Seconds since the last response, or since startup if there has been none. */
    ageSeconds,
    /** Returns the reason why the service is not ready, after a long outage. Otherwise `undefined`. */
    lostReason: () => (maxSeconds > 0 && ageSeconds() >= maxSeconds ? "the database is unreachable" : undefined),
    /**
     * A log that combines the warnings during an outage into one line, "database unavailable":
     * immediately, then every ten seconds with the number of omitted warnings. The first line contains
     * the full error, the later lines only its message.
     */
    log: Object.assign(Object.create(options.log) as Logger, { warn }),
  };
}
