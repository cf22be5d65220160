import { refuse, type Refusal } from "../../domain/refusal.ts";

/** Maximum delay of Node's timers, in milliseconds: 24 days. Timers with a longer delay fire immediately. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

export function deadlineError(): Refusal {
  return refuse("DEADLINE_EXCEEDED");
}

/**
 * @param deadlineMs deadline on the clock of `performance.now()`
 * @throws Refusal DEADLINE_EXCEEDED
 */
export function assertBefore(deadlineMs: number | undefined): void {
  if (deadlineMs !== undefined && deadlineMs <= performance.now()) throw deadlineError();
}

/** Waits for work until a deadline. After the deadline the work continues and its result is dropped. */
export async function waitUntil<T>(deadlineMs: number, work: Promise<T>): Promise<T> {
  const { promise: passed, reject } = Promise.withResolvers<never>();
  const leftMs = Math.max(0, deadlineMs - performance.now());
  const timer = setTimeout(() => reject(deadlineError()), Math.min(leftMs, MAX_TIMER_MS));
  work.catch(() => undefined);
  try {
    return await Promise.race([work, passed]);
  } finally {
    clearTimeout(timer);
  }
}
