import type { CallOptions } from "@connectrpc/connect";
import { useCallback, useRef, useState } from "preact/hooks";
import { problemOf, type Problem } from "./problem.ts";
import { createStore } from "./store.ts";

/** Counts reloads of the displayed data: one after each successful action. */
export const reloads = createStore(0);

export function reloadAll(): void {
  reloads.set(reloads.get() + 1);
}

export interface Action<A extends readonly unknown[]> {
  /** Runs the action. A second call while one is in flight is a no-op. Never rejects. */
  readonly run: (...args: A) => Promise<void>;
  readonly isRunning: boolean;
  readonly problem: Problem | undefined;
  readonly reset: () => void;
}

/**
 * Makes a change with a call, one at a time:
 *
 *     const cancel = useAction(async () => {
 *       await shipments.cancelShipment({ shipment });
 *       toast("The shipment is cancelled.");
 *     });
 */
export function useAction<A extends readonly unknown[]>(
  work: (...args: A) => Promise<unknown>,
): Action<A> {
  const [isRunning, setRunning] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const latest = useRef(work);
  latest.current = work;
  const running = useRef(false);
  const run = useCallback(async (...args: A) => {
    if (running.current) return;
    running.current = true;
    setRunning(true);
    setProblem(undefined);
    try {
      await latest.current(...args);
      reloadAll();
    } catch (error) {
      setProblem(problemOf(error));
    } finally {
      running.current = false;
      setRunning(false);
    }
  }, []);
  const reset = useCallback(() => setProblem(undefined), []);
  return { run, isRunning, problem, reset };
}

/**
 * Returns call options with one idempotency key for the lifetime of a form or dialog. If the change
 * is sent twice, for example after a lost response, it is made once.
 */
export function useIdempotencyOptions(): CallOptions {
  const [options] = useState(() => ({ headers: { "idempotency-key": randomKey() } }));
  return options;
}

/** Returns a new idempotency key. `crypto.randomUUID` requires https. */
export function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `page-${[...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
