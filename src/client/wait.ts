import { Code, ConnectError } from "@connectrpc/connect";

/** Maximum delay of a timer, in milliseconds. Timers with a longer delay fire immediately. */
export const MAX_TIMER_MS: number = 2 ** 31 - 1;

/** Resolves after a delay of at most 24 days. Rejects with the code `Canceled` when the signal aborts. */
export type Wait = (ms: number, signal: AbortSignal | undefined) => Promise<void>;

export const wait: Wait = (ms, signal) =>
  new Promise((resolve, reject) => {
    const cancel = () => {
      clearTimeout(timer);
      reject(ConnectError.from(signal!.reason, Code.Canceled));
    };
    const timer = setTimeout(
      () => {
        signal?.removeEventListener("abort", cancel);
        resolve();
      },
      Math.min(ms, MAX_TIMER_MS),
    );
    if (signal?.aborted) cancel();
    else signal?.addEventListener("abort", cancel, { once: true });
  });
