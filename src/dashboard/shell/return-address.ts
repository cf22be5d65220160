import type { Account } from "../../../gen/shipments/account/v1/account_service_pb.js";
import { findWorkspace } from "../api/session.ts";
import { workspaceIn } from "../routes/paths.ts";
import { isPlatformPath } from "./pages.ts";

/** Storage key of the URL, shared by all tabs because a sign-in link opens a new tab. */
const KEY = "return-address";
/** Lifetime of a stored URL, in milliseconds. */
const LASTS_MS = 30 * 60_000;

interface Kept {
  readonly address: string;
  readonly keptAt: number;
}

export function keepReturnAddress(): void {
  const address = addressHere();
  if (address === undefined) return;
  const kept: Kept = { address, keptAt: Date.now() };
  localStorage.setItem(KEY, JSON.stringify(kept));
}

/** Returns the current URL, or on the sign-in page the previous one. `undefined` if unknown. */
export function returnAddress(): string | undefined {
  return addressHere() ?? keptAddress();
}

/** Returns and deletes the stored URL. `undefined` if the reader has no access to the page. */
export function takeReturnAddress({ workspaces, operatorRole }: Account): string | undefined {
  const address = keptAddress();
  localStorage.removeItem(KEY);
  if (address === undefined) return undefined;
  const { pathname } = new URL(address, location.origin);
  const workspace = workspaceIn(pathname);
  const isTheirs = isPlatformPath(pathname)
    ? operatorRole !== undefined
    : workspace === undefined || findWorkspace(workspaces, workspace) !== undefined;
  return isTheirs ? address : undefined;
}

function addressHere(): string | undefined {
  const { pathname, search } = location;
  return pathname === "/" || pathname === "/sign-in" ? undefined : pathname + search;
}

function keptAddress(): string | undefined {
  const text = localStorage.getItem(KEY);
  if (text === null) return undefined;
  const { address, keptAt } = JSON.parse(text) as Kept;
  // Ignores URLs of other sites, such as `//example.org`.
  const isOwn = URL.parse(address, location.origin)?.origin === location.origin;
  return isOwn && Date.now() - keptAt < LASTS_MS ? address : undefined;
}
