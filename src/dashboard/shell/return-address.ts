import type { Account } from "../../../gen/shipments/account/v1/account_service_pb.js";
import { findWorkspace } from "../api/session.ts";
import { workspaceIn } from "../routes/paths.ts";
import { isPlatformPath } from "./pages.ts";

/** Where the address is kept, for all tabs of the browser: a link opens in one of its own. */
const KEY = "return-address";
/** After how long nobody means to go there any more, in milliseconds. */
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

/** Where the reader is, or was before they came to the sign-in page; undefined when that is not known. */
export function returnAddress(): string | undefined {
  return addressHere() ?? keptAddress();
}

/** The address that was noted, which is then forgotten; undefined for a page that is not the reader's. */
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
  // An address that leads to another site, such as `//example.org`, is none of this page's.
  const isOwn = URL.parse(address, location.origin)?.origin === location.origin;
  return isOwn && Date.now() - keptAt < LASTS_MS ? address : undefined;
}
