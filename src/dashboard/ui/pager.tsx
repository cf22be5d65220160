import { useLayoutEffect, useRef } from "preact/hooks";
import { changeQuery, usePlace } from "../routes/router.ts";
import { useStore } from "../api/store.ts";
import { characterKeys, useKeys } from "./use-keys.ts";

/** The name of a page's cursor, in the query as in requests. */
export const PAGE_TOKEN = "page_token";
/** The name of what is open beside a list. */
export const OPEN = "open";

export function usePageToken(): string | undefined {
  return usePlace().query.get(PAGE_TOKEN) ?? undefined;
}

/** For a change of filters: the cursor belongs to the filters it was given with, what is open to its page. */
export const FIRST_PAGE = { [PAGE_TOKEN]: undefined, [OPEN]: undefined } as const;

/**
 * Goes from page to page of a list by cursors, with the keys `n` and `p` as well. The cursor is in the
 * address. The pages before are kept with the entry of the history; where they are not known, since
 * the address came from elsewhere, the way back leads to the first page. The keys lead to the first row
 * of the page, a button stays where it is.
 */
export function Pager({ nextPageToken }: { readonly nextPageToken: string }) {
  const token = usePageToken();
  const hasKeys = useStore(characterKeys);
  const before = tokensBefore();
  const nav = useRef<HTMLElement>(null);
  const isByKey = useRef(false);
  // Before the page is painted: the next key may be pressed as soon as it is seen.
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

/** The cursors of the pages before this one; the first page's is empty. */
function tokensBefore(): readonly string[] {
  const state: unknown = history.state;
  return Array.isArray(state) ? state.filter((token) => typeof token === "string") : [];
}
