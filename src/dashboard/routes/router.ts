import { useMemo } from "preact/hooks";
import { createStore, useStore } from "../api/store.ts";
import { movedHref, withQuery } from "./paths.ts";

const address = createStore(hrefNow());

function noteAddress(): void {
  address.set(hrefNow());
}

/** Returns the browser's URL. If the page has moved, updates the URL first. */
function hrefNow(): string {
  const moved = movedHref(location.pathname, location.search);
  if (moved !== undefined) history.replaceState(history.state, "", moved);
  return location.href;
}

export interface Going {
  /** Whether to replace the current history entry, so that "back" skips it. */
  readonly replace?: boolean;
  /** State stored with the history entry. Survives reloads. */
  readonly state?: unknown;
}

/** URL of the link that was last followed from a page, by the page's URL. */
const followed = new Map<string, string>();
let isBack = false;

/** After "back", returns the link that was followed from this page. Otherwise `undefined`. */
export function linkLeftBy(): string | undefined {
  return isBack ? followed.get(location.href) : undefined;
}

/** Function that leaves the page. Rejects on failure. */
export type Leave = () => void | Promise<void>;

let askToLeave: ((leave: Leave) => void) | undefined;

/**
 * Asks before the user leaves the page by a link, by signing out, or by "back" or "forward". Calls
 * `ask` with a function that leaves. A second "back" without a click or key press in between is not
 * guarded. Browsers without the Navigation API guard neither "back" nor "forward". The browser
 * itself confirms closing or reloading the tab. Returns an unsubscribe function.
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

/** Leaves the page immediately, or after confirmation if the page is guarded. */
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
 * Navigates on clicks on links within the site, without loading a new document. Links are ordinary `<a href>`
 * elements. Links to URLs outside the dashboard, such as API documents, need `rel="external"`.
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
    link.closest<HTMLElement>("[popover]")?.hidePopover();
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

export function useLocation() {
  const href = useStore(address);
  return useMemo(() => {
    const { pathname, searchParams: query, hash } = new URL(href);
    return { pathname, query, hash };
  }, [href]);
}

/** Changes query parameters but not the path. An empty value removes the parameter. */
export function changeQuery(changes: Readonly<Record<string, string | undefined>>, going?: Going): void {
  const query = Object.fromEntries(new URLSearchParams(location.search));
  navigate(withQuery(location.pathname, { ...query, ...changes }), going);
}
