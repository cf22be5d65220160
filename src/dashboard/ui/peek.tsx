import { createContext, type ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useDebounced } from "../api/use-query.ts";
import { changeQuery, useLocation } from "../routes/router.ts";
import { IconButton } from "./button.tsx";
import { OPEN } from "./pager.tsx";
import { useKeys } from "./use-keys.ts";
import "./peek.css";

const WIDE = matchMedia("(min-width: 80rem)");
/** Time that a row must keep the focus before its page is loaded, in milliseconds. */
const STAY_MS = 120;

/** The row that is open beside a list. The URL holds the row's key. */
export type Peek = NonNullable<ReturnType<typeof usePeek>>;

/** Returns the open row, or `undefined` if the screen is too narrow. */
export function usePeek() {
  const [isWide, setWide] = useState(WIDE.matches);
  const key = useLocation().query.get(OPEN) ?? undefined;
  useEffect(() => {
    const update = () => setWide(WIDE.matches);
    WIDE.addEventListener("change", update);
    return () => WIDE.removeEventListener("change", update);
  }, []);
  if (!isWide) return undefined;
  // Keep the history state, which holds the cursors of the list's previous pages.
  const { state } = history;
  return {
    key,
    /** Opens a row. Only the first row adds a history entry. */
    open: (next: string) => next !== key && changeQuery({ [OPEN]: next }, { replace: key !== undefined, state }),
    close: () => changeQuery({ [OPEN]: undefined }, { state }),
  };
}

/** Whether the page is shown beside a list instead of on its own. */
export const IsPeek = createContext(false);

/** Shows the page of a row beside its list. */
export function PeekView(props: {
  readonly peek: Peek;
  readonly href: (key: string) => string;
  readonly children: (key: string) => ComponentChildren;
}) {
  const { peek, href, children } = props;
  const key = useDebounced(peek.key, STAY_MS) ?? peek.key;
  const close = () => {
    if (peek.key === undefined) return false;
    document.querySelector<HTMLElement>("tr[aria-current] .row-link")?.focus();
    return peek.close();
  };
  useKeys({ Escape: close });
  if (peek.key === undefined || key === undefined) return null;
  return (
    <section class="peek" aria-label="Opened beside the list">
      <div class="peek-bar">
        <a href={href(peek.key)}>Open page</a>
        <IconButton quiet sign="×" label="Close" onClick={close} />
      </div>
      <IsPeek.Provider value>
        <div key={key}>{children(key)}</div>
      </IsPeek.Provider>
    </section>
  );
}
