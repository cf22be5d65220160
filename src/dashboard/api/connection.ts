import { createStore } from "./store.ts";

/** Whether the service answered last; false while it cannot be reached. */
export const connected = createStore(true);

/** Backoff while the service is away, in milliseconds: first, at most. */
const WAIT_MS = 1_000;
const MAX_WAIT_MS = 10_000;
/** A host that is gone may never refuse a look either. */
const LOOK_MS = 5_000;

/**
 * Notes that a call did not reach the service, and looks until it answers again; then queries load
 * anew by themselves.
 */
export function noteConnectionLost(): void {
  if (!connected.get()) return;
  connected.set(false);
  void lookUntilReady();
}

async function lookUntilReady(): Promise<void> {
  for (let waitMs = WAIT_MS; ; waitMs = Math.min(waitMs * 1.5, MAX_WAIT_MS)) {
    await untilElapsed(waitMs, window, "online");
    if (await isReady()) return connected.set(true);
  }
}

export function untilElapsed(ms: number, target: EventTarget, event: string): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      target.removeEventListener(event, end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    target.addEventListener(event, end);
  });
}

async function isReady(): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(LOOK_MS);
    return (await fetch("/readyz", { cache: "no-store", signal })).ok;
  } catch {
    return false;
  }
}
