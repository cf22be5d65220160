import type { CallOptions } from "@connectrpc/connect";
import { useCallback, useRef, useState } from "preact/hooks";
import { problemOf, type Problem } from "./problem.ts";
import { createStore } from "./store.ts";

/** Reload counter. It increases after each successful action, and the displayed data then reloads. */
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
 * Runs a change and tracks its progress and error. Only one run is in flight at a time:
 *
 *     const cancel = useAction(async () => {
 *       await shipments.cancelShipment({ shipment });
 *       toast("Shipment cancelled.");
 *     });
 */
export function useAction<A extends readonly unknown[]>(work: (...args: A) => Promise<unknown>): Action<A> {
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
 * Returns call options with one idempotency key for the lifetime of a form or dialog. A change that
 * is sent twice, for example after a lost response, is made once.
 */
export function useIdempotencyOptions(): CallOptions {
  const [options] = useState(() => ({ headers: { "idempotency-key": randomKey() } }));
  return options;
}

/** Returns a new idempotency key. Avoids `crypto.randomUUID`, which requires https. */
export function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `page-${[...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
