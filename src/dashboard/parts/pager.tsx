import { changeQuery, usePlace } from "../router.ts";
import { useKeys } from "./use-keys.ts";

/** The query's name for the cursor of a page. */
const NAME = "page_token";

/** The cursor of the page in the address; undefined on the first page. */
export function usePageToken(): string | undefined {
  return usePlace().query.get(NAME) ?? undefined;
}

/** For a change of filters: the cursor belongs to the filters it was given with. */
export const FIRST_PAGE = { [NAME]: undefined } as const;

/**
 * Goes from page to page of a list by cursors, with the keys `n` and `p` as well. The cursor is in the
 * address. The pages before are kept with the entry of the history; where they are not known, since
 * the address came from elsewhere, the way back leads to the first page.
 */
export function Pager({ nextPageToken }: { readonly nextPageToken: string }) {
  const token = usePageToken();
  const before = tokensBefore();
  const previous = () => {
    if (token === undefined) return;
    changeQuery({ [NAME]: before.at(-1) }, { state: before.slice(0, -1) });
  };
  const next = () => {
    if (nextPageToken === "") return;
    changeQuery({ [NAME]: nextPageToken }, { state: [...before, token ?? ""] });
  };
  useKeys({ n: next, p: previous });
  if (token === undefined && nextPageToken === "") return null;
  return (
    <nav class="pager" aria-label="Pages of the list">
      <button type="button" class="button" disabled={token === undefined} onClick={previous}>
        ← {before.length === 0 && token !== undefined ? "First page" : "Previous"}
      </button>
      <button type="button" class="button" disabled={nextPageToken === ""} onClick={next}>
        Next →
      </button>
      <span class="keys">
        <kbd>p</kbd> <kbd>n</kbd> pages, <kbd>k</kbd> <kbd>j</kbd> rows
      </span>
    </nav>
  );
}

/** The cursors of the pages before this one; the first page's is empty. */
function tokensBefore(): readonly string[] {
  const state: unknown = history.state;
  return Array.isArray(state) ? state.filter((it) => typeof it === "string") : [];
}
