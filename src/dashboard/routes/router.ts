import { useMemo } from "preact/hooks";
import { createStore, useStore } from "../api/store.ts";
import { movedHref, withQuery } from "./paths.ts";

/** The browser's location: path, query and hash. */
export interface PageLocation {
  readonly pathname: string;
  readonly query: URLSearchParams;
  readonly hash: string;
}

const address = createStore(hrefNow());

function noteAddress(): void {
  address.set(hrefNow());
}

/** Returns the browser's URL, updated first if the page has moved. */
function hrefNow(): string {
  const moved = movedHref(location.pathname, location.search);
  if (moved !== undefined) history.replaceState(history.state, "", moved);
  return location.href;
}

export interface Going {
  /** Whether to replace the current history entry, so that "back" skips it. */
  readonly replace?: boolean;
  /** Stored with the history entry, across reloads. */
  readonly state?: unknown;
}

/** Link last followed from each page, by the page's URL. */
const followed = new Map<string, string>();
let isBack = false;

/** Returns the link followed from this page before "back", `undefined` after other navigation. */
export function linkLeftBy(): string | undefined {
  return isBack ? followed.get(location.href) : undefined;
}

/** Leaves the page. Rejects if that fails. */
export type Leave = () => void | Promise<void>;

let askToLeave: ((leave: Leave) => void) | undefined;

/**
 * Guards the page against leaving. When a link, signing out, or a step back or forward leads to
 * another page, calls `ask` with a function that leaves. A second step back without a click or key
 * press in between is not guarded, and neither is any step in browsers without the Navigation API.
 * The browser confirms closing or reloading the tab. Returns an unsubscribe function.
 */
export function guardLeaving(ask: (leave: Leave) => void): () => void {
  const { navigation } = globalThis as { readonly navigation?: Navigation };
  const release = () => {
    askToLeave = undefined;
    removeEventListener("beforeunload", guardTab);
    navigation?.removeEventListener("navigate", guardHistory);
  };
  const guardHistory = (event: NavigateEvent) => {
    const { key, url } = event.destination;
    if (event.navigationType !== "traverse" || !event.cancelable) return;
    if (new URL(url).pathname === location.pathname) return;
    event.preventDefault();
    ask(() => {
      release();
      navigation!.traverseTo(key);
    });
  };
  askToLeave = ask;
  addEventListener("beforeunload", guardTab);
  navigation?.addEventListener("navigate", guardHistory);
  return release;
}

function guardTab(event: BeforeUnloadEvent): void {
  event.preventDefault();
}

/** Leaves the page immediately, or after confirmation if it is guarded. */
export async function leavePage(leave: Leave): Promise<void> {
  if (askToLeave === undefined) await leave();
  else askToLeave(leave);
}

export function navigate(href: string, { replace = false, state = null }: Going = {}): void {
  isBack = false;
  if (replace) history.replaceState(state, "", href);
  else history.pushState(state, "", href);
  noteAddress();
}

/**
 * Handles plain clicks on links within the site without loading a new document. Links are ordinary `<a href>`
 * elements. Links to URLs outside the dashboard, such as API documents, have `rel="external"`.
 */
export function followLinks(): void {
  addEventListener("popstate", () => {
    isBack = true;
    noteAddress();
  });
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0 || isModified(event)) return;
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (link === null || link.target !== "" || link.hasAttribute("download")) return;
    if (link.origin !== location.origin || link.relList.contains("external")) return;
    if (link.hash !== "" && link.href.split("#")[0] === location.href.split("#")[0]) return;
    event.preventDefault();
    const { href } = link;
    const follow = () => {
      followed.set(location.href, href);
      if (href !== location.href) navigate(href);
    };
    if (link.pathname === location.pathname) follow();
    else void leavePage(follow);
  });
}

export function isModified(event: MouseEvent): boolean {
  return event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
}

export function useLocation(): PageLocation {
  const href = useStore(address);
  return useMemo(() => {
    const { pathname, searchParams: query, hash } = new URL(href);
    return { pathname, query, hash };
  }, [href]);
}

/** Changes query parameters and keeps the path. An empty value removes the parameter. */
export function changeQuery(
  changes: Readonly<Record<string, string | undefined>>,
  going?: Going,
): void {
  const query = Object.fromEntries(new URLSearchParams(location.search));
  navigate(withQuery(location.pathname, { ...query, ...changes }), going);
}
