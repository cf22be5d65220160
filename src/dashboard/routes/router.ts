import { useMemo } from "preact/hooks";
import { createStore, useStore } from "../api/store.ts";
import { movedHref, withQuery } from "./paths.ts";

/** Where the browser is: the path, the query and the hash of its address. */
export interface Place {
  readonly pathname: string;
  readonly query: URLSearchParams;
  readonly hash: string;
}

const address = createStore(hrefNow());

function noteAddress(): void {
  address.set(hrefNow());
}

/** The address of the browser, which becomes the new one where the page has moved. */
function hrefNow(): string {
  const moved = movedHref(location.pathname, location.search);
  if (moved !== undefined) history.replaceState(history.state, "", moved);
  return location.href;
}

export interface Going {
  /** Takes the place of the present entry of the history, so that "back" skips it. */
  readonly replace?: boolean;
  /** Kept with the entry, across reloads as well. */
  readonly state?: unknown;
}

/** The link that was followed last from a page, by the page's address. */
const followed = new Map<string, string>();
let isBack = false;

/** The link by which the page was left to which the reader has come back; undefined when they did not. */
export function linkLeftBy(): string | undefined {
  return isBack ? followed.get(location.href) : undefined;
}

/** Leaves the page; rejects when that cannot be. */
export type Leave = () => void | Promise<void>;

let askToLeave: ((leave: Leave) => void) | undefined;

/**
 * Calls `ask` with a function that leaves when a link, signing out, or a step back or forward leads to another page,
 * and waits for what it decides. A second step back without a click or a key between them is not asked about, nor is
 * any where the browser has no Navigation API; closing or reloading the tab is asked about by the browser. Returns a
 * function that ends this.
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

/** Leaves the page: at once, or once the reader agrees where leaving is guarded. */
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
 * Makes links within this site change the page without loading the document anew, as long as they
 * are followed by a plain click. Links are ordinary `<a href>` everywhere; those to what is no page of
 * the dashboard, such as a document of the API, have `rel="external"`.
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

export function usePlace(): Place {
  const href = useStore(address);
  return useMemo(() => {
    const { pathname, searchParams: query, hash } = new URL(href);
    return { pathname, query, hash };
  }, [href]);
}

/** Changes values of the query and leaves the path; an empty value is removed. */
export function changeQuery(
  changes: Readonly<Record<string, string | undefined>>,
  going?: Going,
): void {
  const query = Object.fromEntries(new URLSearchParams(location.search));
  navigate(withQuery(location.pathname, { ...query, ...changes }), going);
}
