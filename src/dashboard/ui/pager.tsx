import { useLayoutEffect, useRef } from "preact/hooks";
import { changeQuery, useLocation } from "../routes/router.ts";
import { useStore } from "../api/store.ts";
import { characterKeys, useKeys } from "./use-keys.ts";

/** Query parameter of a page's cursor, named as in requests. */
export const PAGE_TOKEN = "page_token";
/** Query parameter of the row that is open beside a list. */
export const OPEN = "open";

export function usePageToken(): string | undefined {
  return useLocation().query.get(PAGE_TOKEN) ?? undefined;
}

/** Query changes for new filters, which invalidate the cursor and the open row. */
export const FIRST_PAGE = { [PAGE_TOKEN]: undefined, [OPEN]: undefined } as const;

/**
 * Pages through a list by cursor, also with the keys `n` and `p`. The URL holds the cursor, and the history entry
 * holds the previous cursors. If those are unknown, because the URL came from elsewhere, the way back leads to the
 * first page. The keys focus the first row of the page, and the buttons keep the focus.
 */
export function Pager({ nextPageToken }: { readonly nextPageToken: string }) {
  const token = usePageToken();
  const hasKeys = useStore(characterKeys);
  const before = tokensBefore();
  const nav = useRef<HTMLElement>(null);
  const isByKey = useRef(false);
  // Before painting, because the next key may be pressed as soon as the page is visible.
  useLayoutEffect(() => {
    if (!isByKey.current) return;
    isByKey.current = false;
    const list = nav.current?.parentElement?.querySelector<HTMLElement>("table");
    (list?.querySelector<HTMLElement>("tbody a") ?? list)?.focus();
  }, [nextPageToken]);
  const byKey = (go: () => boolean) => () => {
    isByKey.current = go();
  };
  const previous = () => {
    if (token === undefined) return false;
    changeQuery({ ...FIRST_PAGE, [PAGE_TOKEN]: before.at(-1) }, { state: before.slice(0, -1) });
    return true;
  };
  const next = () => {
    if (nextPageToken === "") return false;
    const state = [...before, token ?? ""];
    changeQuery({ ...FIRST_PAGE, [PAGE_TOKEN]: nextPageToken }, { state });
    return true;
  };
  useKeys({ n: byKey(next), p: byKey(previous) });
  if (token === undefined && nextPageToken === "") return null;
  return (
    <nav ref={nav} class="pager" aria-label="Pages of the list">
      <button type="button" class="button" aria-disabled={token === undefined} onClick={previous}>
        ← {before.length === 0 && token !== undefined ? "First page" : "Previous"}
      </button>
      <button type="button" class="button" aria-disabled={nextPageToken === ""} onClick={next}>
        Next →
      </button>
      {hasKeys && (
        <span class="keys">
          <kbd>?</kbd> shows all keys
        </span>
      )}
    </nav>
  );
}

/** Cursors of the previous pages. The first page's cursor is empty. */
function tokensBefore(): readonly string[] {
  const state: unknown = history.state;
  return Array.isArray(state) ? state.filter((token) => typeof token === "string") : [];
}
