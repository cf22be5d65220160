import { synchronize } from "./sync/synchronize.ts";

/** Paths of the page and its files, inserted by the build. The page is first. */
declare const SHELL: readonly [string, ...string[]];

interface ExtendableEvent extends Event {
  waitUntil(work: Promise<unknown>): void;
}

interface FetchEvent extends ExtendableEvent {
  readonly request: Request;
  respondWith(response: Promise<Response>): void;
}

/** Scope of a service worker, as far as this one uses it. The types of browsers and of workers exclude each other. */
interface Scope {
  readonly clients: { claim(): Promise<void> };
  skipWaiting(): Promise<void>;
  addEventListener(type: "install" | "activate" | "sync", listener: (event: ExtendableEvent) => void): void;
  addEventListener(type: "fetch", listener: (event: FetchEvent) => void): void;
}

const scope = self as unknown as Scope;
const [PAGE] = SHELL;
const PREFIX = "courier ";
/** Name of this version's cache. File names contain hashes of their contents. */
const CACHE = PREFIX + SHELL.join(" ");
/** Maximum time to wait for the network before the stored page is shown. */
const PAGE_TIMEOUT_MS = 3_000;

scope.addEventListener("install", (event) => {
  event.waitUntil(storeShell().then(() => scope.skipWaiting()));
});

scope.addEventListener("activate", (event) => {
  event.waitUntil(removeOtherVersions().then(() => scope.clients.claim()));
});

scope.addEventListener("fetch", (event) => {
  const { request } = event;
  const { pathname } = new URL(request.url);
  if (request.method !== "GET" || !SHELL.includes(pathname)) return;
  event.respondWith(pathname === PAGE ? networkFirst(request) : cacheFirst(request));
});

// The browser repeats the event later if the promise rejects.
scope.addEventListener("sync", (event) => {
  event.waitUntil(sendQueue());
});

/**
 * Stores the page and its files. The browser repeats a failed installation at the next visit.
 *
 * @throws Error if the page belongs to another version, which some replicas serve during a rollout
 */
async function storeShell(): Promise<void> {
  const cache = await caches.open(CACHE);
  await cache.addAll(SHELL);
  const page = (await (await cache.match(PAGE))?.text()) ?? "";
  if (!SHELL.every((path) => page.includes(path))) throw new Error("The page belongs to another version.");
}

async function sendQueue(): Promise<void> {
  const { connection } = await synchronize();
  if (connection === "offline") throw new Error("The service cannot be reached.");
}

async function removeOtherVersions(): Promise<void> {
  const names = await caches.keys();
  const others = names.filter((name) => name.startsWith(PREFIX) && name !== CACHE);
  await Promise.all(others.map((name) => caches.delete(name)));
}

async function cacheFirst(request: Request): Promise<Response> {
  return (await caches.match(new URL(request.url).pathname, { ignoreVary: true })) ?? fetch(request);
}

async function networkFirst(request: Request): Promise<Response> {
  const stored = await caches.match(PAGE, { ignoreVary: true });
  if (stored === undefined) return fetch(request);
  const timeout = new Promise<Response>((resolve) => setTimeout(() => resolve(stored), PAGE_TIMEOUT_MS));
  const loaded = fetch(request).then(
    (response) => (response.ok ? response : stored),
    () => stored,
  );
  return Promise.race([loaded, timeout]);
}
