/*
 * How long tests wait at most. A test waits for what it wants to see, never for a time, and how long that
 * takes depends on the machine, so none of these measures a test: they end what hangs, and say where.
 */

/** How long a test or a hook may take, in milliseconds, on the busiest machine. */
export const TEST_MS = 15 * 60_000;

/** How long a page may take to show something, in milliseconds. */
export const PAGE_MS = 120_000;

/**
 * For how long a processor may have nothing to do while something is waited for, in milliseconds. On a
 * machine that is busy throughout, only the test's own limit ends the wait.
 */
export const IDLE_MS = 30_000;
