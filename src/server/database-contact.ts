import type { Logger } from "pino";
import { DEFAULT_MAX_DATABASE_OUTAGE_SECONDS, type Config } from "../config/config.ts";
import { describeError } from "../db/connection-error.ts";
import {
  isContention,
  isStatementTimeout,
  isTransientDatabaseError,
} from "../db/database-error.ts";

/** Tracks whether the database is reachable and logs outages. */
export interface DatabaseContact {
  /** Records a response of the database. */
  reached(): void;
  /** Seconds since the last response, or since startup if there was none. */
  ageSeconds(): number;
  /** Returns the reason why the service is not ready after a long outage, otherwise `undefined`. */
  lostBecause(): string | undefined;
  /**
   * A log that combines warnings during an outage into one line, "database unavailable", at once and then every ten
   * seconds with the number of omitted warnings. The first one contains the full error, the others only its message.
   */
  readonly log: Logger;
}

/** Interval of logging an outage, in milliseconds. */
const SAY_MS = 10_000;
/** Shorter outages are not logged at their end, in seconds. */
const MIN_SECONDS = 2;

export function createDatabaseContact(options: {
  readonly log: Logger;
  /** Monotonic clock. */
  readonly nowMs?: (() => number) | undefined;
  /** Provides the maximum outage after which `lostBecause` reports. */
  readonly config: Partial<Pick<Config, "maxDatabaseOutageSeconds">>;
}): DatabaseContact {
  const { nowMs = () => performance.now() } = options;
  const { maxDatabaseOutageSeconds: maxSeconds = DEFAULT_MAX_DATABASE_OUTAGE_SECONDS } =
    options.config;
  let reachedMs = nowMs();
  let saidMs = -Infinity;
  let notLogged = 0;
  /** Whether an operation has failed since the last response. */
  let isAway = false;

  function warn(fields: { readonly err?: unknown }, during: string): void {
    const { err, ...others } = fields;
    if (!isTransientDatabaseError(err) || isStatementTimeout(err))
      return options.log.warn(fields, during);
    // Contention means that the database responds.
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
      // Without a failure, this process was merely late, for example while loading a large tariff.
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
