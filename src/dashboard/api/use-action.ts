import type { CallOptions } from "@connectrpc/connect";
import { useCallback, useRef, useState } from "preact/hooks";
import { problemOf, type Problem } from "./problem.ts";
import { createStore } from "./store.ts";

/** How often what is shown was to be reloaded: after each action that succeeded, whatever it changed. */
export const reloads = createStore(0);

export function reloadAll(): void {
  reloads.set(reloads.get() + 1);
}

export interface Action<A extends readonly unknown[]> {
  /** Does it; a second call while it is in flight does nothing. Never rejects. */
  readonly run: (...args: A) => Promise<void>;
  readonly isRunning: boolean;
  readonly problem: Problem | undefined;
  readonly reset: () => void;
}

/**
 * Makes a change by a call, once at a time:
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
 * Options for the one change that a form or a dialog makes, the same as long as it is shown: sent
 * twice, such as after a lost answer, the change is made once.
 */
export function useIdempotencyOptions(): CallOptions {
  const [options] = useState(() => ({ headers: { "idempotency-key": randomKey() } }));
  return options;
}

/** A new idempotency key. `crypto.randomUUID` is there over https alone. */
export function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `page-${[...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
