import { useLayoutEffect, useRef } from "preact/hooks";
import { changeQuery, useLocation } from "../routes/router.ts";
import { useStore } from "../api/store.ts";
import { characterKeys, useKeys } from "./use-keys.ts";

/** Query parameter of a page's cursor, named as in API requests. */
export const PAGE_TOKEN = "page_token";
/** Query parameter of the row that is open beside a list. */
export const OPEN = "open";

export function usePageToken(): string | undefined {
  return useLocation().query.get(PAGE_TOKEN) ?? undefined;
}

/** Query changes that return to the first page. New filters invalidate the cursor and the open row. */
export const FIRST_PAGE = { [PAGE_TOKEN]: undefined, [OPEN]: undefined } as const;

/**
 * Pages through a list by cursor, also with the keys `n` and `p`. The URL holds the cursor, and the
 * history entry holds the previous cursors. A URL from elsewhere has none, so its "previous" leads
 * to the first page. Paging by key focuses the first row. Paging by button keeps the focus.
 */
export function Pager(props: {
  readonly nextPageToken: string;
  /** Whether the cursor belongs to the previous page or to previous filters. "Next" then does nothing. */
  readonly isOutdated: boolean;
}) {
  const { nextPageToken, isOutdated } = props;
  const token = usePageToken();
  const hasKeys = useStore(characterKeys);
  const before = tokensBefore();
  const nav = useRef<HTMLElement>(null);
  const isByKey = useRef(false);
  // Runs before painting, because the next key may be pressed as soon as the page is visible.
  useLayoutEffect(() => {
    if (!isByKey.current) return;
    isByKey.current = false;
    const list = nav.current?.parentElement?.querySelector<HTMLElement>("table");
    (list?.querySelector<HTMLElement>("tbody a") ?? list)?.focus();
  }, [nextPageToken]);
  const byKey = (go: () => boolean) => () => {
    // A key that does nothing leaves the focus to the key before it, whose page may still be loading.
    isByKey.current = go() || isByKey.current;
  };
  const previous = () => {
    if (token === undefined) return false;
    changeQuery({ ...FIRST_PAGE, [PAGE_TOKEN]: before.at(-1) }, { state: before.slice(0, -1) });
    return true;
  };
  const next = () => {
    if (nextPageToken === "" || isOutdated) return false;
    const state = [...before, token ?? ""];
    changeQuery({ ...FIRST_PAGE, [PAGE_TOKEN]: nextPageToken }, { state });
    return true;
  };
  useKeys({ n: byKey(next), p: byKey(previous) });
  if (token === undefined && nextPageToken === "") return null;
  return (
    <nav ref={nav} class="pager" aria-label="Pagination">
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

/** Returns the cursors of the previous pages. The first page's cursor is empty. */
function tokensBefore(): readonly string[] {
  const state: unknown = history.state;
  return Array.isArray(state) ? state.filter((token) => typeof token === "string") : [];
}
