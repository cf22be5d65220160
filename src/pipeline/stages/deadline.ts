import { refuse, type Refusal } from "../../domain/refusal.ts";

/**
 * The longest that a timer of Node can wait, in milliseconds: 24 days. One that is set for longer goes
 * off at once.
 */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The refusal of a call that is not answered, or a stream that has not ended, by the caller's deadline. */
export function deadlineError(): Refusal {
  return refuse("DEADLINE_EXCEEDED", "The caller's deadline passed before the answer.");
}
