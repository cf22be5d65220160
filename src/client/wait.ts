import { Code, ConnectError } from "@connectrpc/connect";

/** Longest time of a timer, in milliseconds. A timer with a longer one fires at once. */
export const MAX_TIMER_MS: number = 2 ** 31 - 1;

/** Resolves after a time, at most 24 days; rejects with the code `Canceled` once the signal aborts. */
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
