/** A flag that `notify` sets. `wait` waits for the flag and resets it. */
export type Waiter = ReturnType<typeof createWaiter>;

export function createWaiter() {
  let notified = false;
  let stopWaiting: (() => void) | undefined;
  return {
    notify(): void {
      notified = true;
      stopWaiting?.();
    },
    /**
     * Resolves to true once `notify` was called after the last wait, or to false after `ms` or when
     * the signal aborts. Only one wait at a time is allowed.
     */
    async wait(ms: number, signal?: AbortSignal): Promise<boolean> {
      if (!notified) await sleepUntil(ms, signal, (stop) => (stopWaiting = stop));
      const result = notified;
      notified = false;
      return result;
    },
  };
}

/** Resolves after `ms`, when the signal aborts, or when the callback that `onStart` receives is called. */
function sleepUntil(ms: number, signal: AbortSignal | undefined, onStart: (stop: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const stop = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", stop);
      resolve();
    };
    const timer = setTimeout(stop, ms);
    signal?.addEventListener("abort", stop);
    onStart(stop);
  });
}
