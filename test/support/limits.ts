/* Maximum wait times of tests. Tests wait for conditions, not for times, so these only end hanging tests. */

/** Timeout of a test or hook on the slowest machine, in milliseconds. */
export const TEST_MS = 15 * 60_000;

/** Timeout for a page to show an element, in milliseconds. */
export const PAGE_MS = 120_000;

/** Idle CPU time after which a wait fails, in milliseconds. On a busy machine only the test's timeout ends it. */
export const IDLE_MS = 30_000;
