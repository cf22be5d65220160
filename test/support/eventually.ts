import { until } from "../../src/embedded-postgres/until.ts";

/** How long anything in a test may take to come about, in milliseconds, unless a test says less. */
const WITHIN_MS = 30_000;

/**
 * Waits until `look` gives something other than undefined or false, and gives that.
 *
 * @param wanted what is waited for, for the error's sentence
 */
export function eventually<T>(
  wanted: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
  withinMs = WITHIN_MS,
): Promise<T> {
  return until(wanted, Date.now() + withinMs, look);
}
