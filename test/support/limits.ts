/* Maximum wait times of tests. Tests wait for conditions, so these limits only stop tests that hang. */

/** Timeout of a test or hook, in milliseconds. Long enough for the slowest machine. */
export const TEST_MS = 15 * 60_000;

/** Maximum wait for a page to show an element, in milliseconds. */
export const PAGE_MS = 120_000;

/** Idle CPU time after which a wait fails, in milliseconds. A busy machine only has the test's timeout. */
export const IDLE_MS = 30_000;
