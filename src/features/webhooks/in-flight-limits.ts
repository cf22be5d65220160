/** How many attempts at a time a healthy webhook begins with; so many are always possible. */
export const USUAL_WINDOW = 4;
/** How many attempts at one webhook are in flight at most. */
export const MAX_WINDOW = 64;
/** How many attempts one process has in flight at most beyond the usual window of each webhook. */
const MAX_EXTRA = 512;

/**
 * How many attempts at a webhook may be in flight after one has ended. The window grows by one with
 * every success, so that it doubles in the time of a response, and every failure halves it: a slow
 * receiver gets many messages at a time, and one that hangs soon gets one.
 *
 * @param size from 1 to `MAX_WINDOW`
 */
export function nextWindow(size: number, isSuccess: boolean): number {
  return isSuccess ? Math.min(size + 1, MAX_WINDOW) : Math.max(1, Math.floor(size / 2));
}

/**
 * Asks for an attempt at a webhook to be in flight. Gives what releases it; undefined while the limit
 * of the process is reached.
 *
 * @param inFlight how many attempts at the webhook are in flight
 */
export type AcquireAttempt = (workspace: number, inFlight: number) => (() => void) | undefined;

/**
 * Builds the limit of one process. The usual window of a webhook is always free for it. Beyond that, a
 * workspace may have as many attempts in flight as are left for others, so that receivers that hang
 * never take all.
 */
export function createInFlightLimit(): AcquireAttempt {
  const extraOf = new Map<number, number>();
  let extra = 0;

  function add(workspace: number, count: number): void {
    extra += count;
    const sum = (extraOf.get(workspace) ?? 0) + count;
    if (sum === 0) extraOf.delete(workspace);
    else extraOf.set(workspace, sum);
  }

  return (workspace, inFlight) => {
    if (inFlight < USUAL_WINDOW) return () => undefined;
    if ((extraOf.get(workspace) ?? 0) >= MAX_EXTRA - extra) return undefined;
    add(workspace, 1);
    return () => add(workspace, -1);
  };
}
