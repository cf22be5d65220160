import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { useStore } from "../api/store.ts";
import { useLocation } from "../routes/router.ts";
import { characterKeys, useKeys } from "../ui/use-keys.ts";
import { SearchBox } from "./search-box.tsx";
import type { SearchSource } from "./search-results.tsx";
import "./search-button.css";

/** A button that opens the search, as `/` and Ctrl-K do. */
export function SearchButton(source: SearchSource) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [isOpen, setOpen] = useState(false);
  const hasKeys = useStore(characterKeys);
  const { pathname, query, hash } = useLocation();
  const href = `${pathname}?${query.toString()}${hash}`;
  const open = () => {
    // Open now instead of on the next render, because the next key belongs to the search.
    dialog.current!.showModal();
    setOpen(true);
  };
  const close = () => {
    dialog.current!.close();
    setOpen(false);
  };
  useKeys({ "/": open });
  useLayoutEffect(() => {
    const listener = (event: KeyboardEvent) => {
      if (event.key !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey) return;
      if (document.querySelector("dialog[open]") !== null) return;
      event.preventDefault();
      open();
    };
    document.addEventListener("keydown", listener);
    return () => document.removeEventListener("keydown", listener);
  }, []);
  // Runs before painting. Later it could close a search that was opened as soon as the page was visible.
  useLayoutEffect(close, [href]);
  return (
    <>
      <button
        type="button"
        class="open-search button"
        aria-keyshortcuts={hasKeys ? "/ Control+K" : "Control+K"}
        onClick={open}
      >
        <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
          <circle cx="7" cy="7" r="4.5" />
          <path d="m10.5 10.5 4 4" />
        </svg>
        <span>Search</span>
        {hasKeys && <kbd aria-hidden="true">/</kbd>}
      </button>
      <SearchBox {...{ dialog, isOpen, close, source }} />
    </>
  );
}
