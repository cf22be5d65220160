/** With how many attempts at a time a healthy webhook begins; these are always possible. */
export const USUAL_WINDOW = 4;
/** How many attempts at one webhook are in flight at most. */
export const MAX_WINDOW = 64;

/**
 * How many attempts at a webhook may be in flight after one has ended. The window grows by one with
 * every success, so that it doubles in the time of an answer, and every failure halves it: a slow
 * receiver gets many messages at a time, and one that hangs soon gets one.
 *
 * @param size from 1 to `MAX_WINDOW`
 */
export function nextWindow(size: number, isSuccess: boolean): number {
  return isSuccess ? Math.min(size + 1, MAX_WINDOW) : Math.max(1, Math.floor(size / 2));
}
