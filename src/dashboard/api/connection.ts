import { createStore } from "./store.ts";

/** Whether the last call reached the service. */
export const connected = createStore(true);

/** Initial and maximum delay between polls while the service is unreachable, in milliseconds. */
const WAIT_MS = 1_000;
const MAX_WAIT_MS = 10_000;
/** Timeout of one poll, in milliseconds. A host that is down may never reject a connection. */
const POLL_TIMEOUT_MS = 5_000;

/** Records a lost connection and polls until the service responds. Queries then reload. */
export function noteConnectionLost(): void {
  if (!connected.get()) return;
  connected.set(false);
  void pollUntilReady();
}

async function pollUntilReady(): Promise<void> {
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
    const signal = AbortSignal.timeout(POLL_TIMEOUT_MS);
    return (await fetch("/readyz", { cache: "no-store", signal })).ok;
  } catch {
    return false;
  }
}
