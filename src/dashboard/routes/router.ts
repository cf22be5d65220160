import { useMemo } from "preact/hooks";
import { createStore, useStore } from "../api/store.ts";
import { withQuery } from "./paths.ts";

/** Where the browser is: the path and the query of its address. */
export interface Place {
  readonly pathname: string;
  readonly query: URLSearchParams;
}

const address = createStore(location.href);

function noteAddress(): void {
  address.set(location.href);
}

/** How to go to an address. */
export interface Going {
  /** Takes the place of the present entry of the history, so that "back" skips it. */
  readonly replace?: boolean;
  /** Kept with the entry, across reloads as well. */
  readonly state?: unknown;
}

/** Shows the page of an address of this site. */
export function navigate(href: string, { replace = false, state = null }: Going = {}): void {
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
  addEventListener("popstate", noteAddress);
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0 || isModified(event)) return;
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (link === null || link.target !== "" || link.hasAttribute("download")) return;
    if (link.origin !== location.origin || link.relList.contains("external")) return;
    if (link.hash !== "" && link.pathname === location.pathname) return;
    event.preventDefault();
    if (link.href !== location.href) navigate(link.href);
  });
}

function isModified(event: MouseEvent): boolean {
  return event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
}

/** The address of the page; renders again when it changes. */
export function usePlace(): Place {
  const href = useStore(address);
  return useMemo(() => {
    const { pathname, searchParams: query } = new URL(href);
    return { pathname, query };
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
