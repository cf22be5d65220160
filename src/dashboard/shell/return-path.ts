import type { Account } from "../../../gen/shipments/account/v1/account_service_pb.js";
import { findWorkspace } from "../api/session.ts";
import { workspaceIn } from "../routes/paths.ts";
import { isPlatformPath } from "./pages.ts";

/** `localStorage` key of the URL. All tabs share it, because a sign-in link opens a new tab. */
const KEY = "return-address";
/** Lifetime of a stored URL, in milliseconds. */
const LIFETIME_MS = 30 * 60_000;

interface StoredPath {
  readonly path: string;
  readonly storedAt: number;
}

export function storeReturnPath(): void {
  const path = currentPath();
  if (path === undefined) return;
  const stored: StoredPath = { path, storedAt: Date.now() };
  localStorage.setItem(KEY, JSON.stringify(stored));
}

/** Returns the current URL, or on the sign-in page the previous one. `undefined` if absent. */
export function returnPath(): string | undefined {
  return currentPath() ?? storedPath();
}

/** Returns and deletes the stored URL. `undefined` if absent or the user cannot access the page. */
export function popReturnPath({ workspaces, operatorRole }: Account): string | undefined {
  const path = storedPath();
  localStorage.removeItem(KEY);
  if (path === undefined) return undefined;
  const { pathname } = new URL(path, location.origin);
  const workspace = workspaceIn(pathname);
  const isTheirs = isPlatformPath(pathname)
    ? operatorRole !== undefined
    : workspace === undefined || findWorkspace(workspaces, workspace) !== undefined;
  return isTheirs ? path : undefined;
}

function currentPath(): string | undefined {
  const { pathname, search } = location;
  return pathname === "/" || pathname === "/sign-in" ? undefined : pathname + search;
}

function storedPath(): string | undefined {
  const text = localStorage.getItem(KEY);
  if (text === null) return undefined;
  const { path, storedAt } = JSON.parse(text) as StoredPath;
  // Ignore URLs of other sites, such as `//example.org`.
  const isOwn = URL.parse(path, location.origin)?.origin === location.origin;
  return isOwn && Date.now() - storedAt < LIFETIME_MS ? path : undefined;
}
