import type { Logger } from "pino";

/** Warns of what goes wrong with exporting, once in a while. */
export interface FailureLog {
  warn(message: string): void;
}

/** How often a warning is logged at most, in milliseconds. */
const REPEAT_MS = 60_000;

/**
 * Builds a log that says at most one thing a minute, and then how many it has left out: a receiver
 * that is down fails every batch.
 *
 * @param nowMs on the clock of `performance.now()`
 */
export function createFailureLog(
  log: Pick<Logger, "warn">,
  nowMs: () => number = () => performance.now(),
): FailureLog {
  let saidMs = -Infinity;
  let unsaid = 0;
  return {
    warn(message) {
      if (nowMs() - saidMs < REPEAT_MS) {
        unsaid++;
        return;
      }
      log.warn({ notLogged: unsaid }, `tracing: ${message}`);
      saidMs = nowMs();
      unsaid = 0;
    },
  };
}
