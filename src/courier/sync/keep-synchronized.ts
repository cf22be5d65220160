import { type Synchronized, synchronize } from "./synchronize.ts";

/** Interval of loading the run while the page is visible. */
const REFRESH_MS = 60_000;
const MIN_RETRY_MS = 2_000;

/** Registration of a service worker in browsers that support Background Sync. */
interface SyncRegistration {
  readonly sync?: { register(tag: string): Promise<void> };
}

/**
 * Synchronizes now, when an act is queued, when the network returns, when the page becomes visible, and every minute.
 * Failed attempts are repeated after 2 seconds, then after twice as long each time, up to a minute.
 *
 * @param onEnd receives after each attempt whether the browser's database failed
 * @returns a function that synchronizes immediately
 */
export function keepSynchronized(onEnd: (isFailed: boolean) => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let failures = 0;
  let running: Promise<void> | undefined;
  let isRepeated = false;

  const schedule = ({ connection, retryAfterMs }: Synchronized) => {
    failures = connection === "offline" ? failures + 1 : 0;
    const retryMs = retryAfterMs ?? MIN_RETRY_MS * 2 ** (failures - 1);
    const pauseMs = failures === 0 ? REFRESH_MS : Math.min(retryMs, REFRESH_MS);
    clearTimeout(timer);
    timer = setTimeout(() => (failures > 0 || !document.hidden) && now(), pauseMs);
    if (failures > 0) requestBackgroundSync();
  };
  const attempt = async () => {
    const synchronized = await synchronize().catch(() => undefined);
    onEnd(synchronized === undefined);
    schedule(synchronized ?? { connection: "offline" });
  };
  const now = () => {
    if (running !== undefined) return void (isRepeated = true);
    isRepeated = false;
    running = attempt().finally(() => {
      running = undefined;
      if (isRepeated) now();
    });
  };

  addEventListener("online", now);
  document.addEventListener("visibilitychange", () => document.hidden || now());
  now();
  return now;
}

/** Asks the browser to send the queue when the network returns, even if the page is closed by then. */
function requestBackgroundSync(): void {
  const { serviceWorker } = navigator as { readonly serviceWorker?: ServiceWorkerContainer };
  serviceWorker?.ready
    .then((registration) => (registration as SyncRegistration).sync?.register("outbox"))
    // Browsers reject background sync in private windows, and if the user disabled it.
    .catch(() => undefined);
}
