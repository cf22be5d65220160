import { useLayoutEffect, useRef, useState, useId } from "preact/hooks";
import { useStore } from "../api/store.ts";
import { useLocation } from "../routes/router.ts";
import { characterKeys, useKeys } from "../ui/use-keys.ts";
import type { SearchSource, Keys, SearchField } from "./search-results.tsx";
import type { RefObject } from "preact";
import { Button } from "../ui/button.tsx";
import { lazily } from "../ui/lazily.tsx";
import "./search-button.css";
import "./search-box.css";

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

const MAX_LENGTH = 60;

const NO_RESULTS: SearchField = { placeholder: "" };
const COMBOBOX = {
  type: "text",
  role: "combobox",
  "aria-label": "Search",
  "aria-autocomplete": "list",
  autoComplete: "off",
  spellcheck: false,
  maxLength: MAX_LENGTH,
} as const;

const NO_KEYS: Keys = { text: "", steps: 0, entered: undefined };

const Results = lazily(() => import("./search-results.tsx"), "SearchResults");

/**
 * The search dialog. Its input is always in the page, so that `showModal` can focus it before the next key press. The
 * results appear once their code has loaded, and then handle the keys pressed so far.
 */
function SearchBox(props: {
  readonly dialog: RefObject<HTMLDialogElement | null>;
  readonly isOpen: boolean;
  /** Called when the dialog is closed or a result is chosen. */
  readonly close: () => void;
  readonly source: SearchSource;
}) {
  const { dialog, close } = props;
  const id = useId();
  const { text, steps, entered, field, ...input } = useInput();
  return (
    <dialog
      ref={dialog}
      class="search-box"
      aria-label="Search"
      onClose={() => {
        // The dialog may have been reopened since.
        if (dialog.current!.open) return;
        input.reset();
        close();
      }}
      onClick={({ target, currentTarget }) => {
        const option = (target as Element).closest<HTMLElement>("[role=option]");
        const proposed = option?.dataset["search"];
        if (proposed !== undefined) {
          input.type(proposed);
          return;
        }
        // The content covers the dialog, so a click on the dialog element itself is outside the content. A link to
        // another page needs no `close`, because leaving the page closes the search.
        const isLeft = option instanceof HTMLAnchorElement && option.href !== location.href;
        if (target === currentTarget || (option && !isLeft)) close();
      }}
    >
      <div>
        <div class="search-field">
          <input
            placeholder={field.placeholder}
            aria-expanded={field.chosen !== undefined}
            aria-activedescendant={field.chosen}
            {...COMBOBOX}
            aria-controls={id}
            value={text}
            onInput={(event) => input.type(event.currentTarget.value)}
            onKeyDown={(event) => input.press(event, event.currentTarget.value)}
          />
          <Button onClick={close}>Close</Button>
        </div>
        {props.isOpen && (
          <Results
            {...props.source}
            {...{ id, text, steps, entered }}
            setField={input.setField}
            clearEntered={input.clearEntered}
          />
        )}
        <p class="keys" aria-hidden="true">
          <kbd>↑</kbd> <kbd>↓</kbd> to choose, <kbd>Enter</kbd> to open, <kbd>Esc</kbd> to close
        </p>
      </div>
    </dialog>
  );
}

/** Tracks the input's text and key presses for the results. */
function useInput() {
  const [keys, setKeys] = useState<Keys>(NO_KEYS);
  const [field, setField] = useState(NO_RESULTS);
  const clearEntered = () => setKeys((before) => ({ ...before, entered: undefined }));
  const type = (text: string) => setKeys((before) => ({ ...before, text, steps: 0 }));
  const step = (by: number) => setKeys((before) => ({ ...before, steps: before.steps + by }));
  return {
    ...keys,
    field,
    setField,
    clearEntered,
    type,
    press(event: KeyboardEvent, text: string): void {
      if (event.key === "ArrowDown") step(1);
      else if (event.key === "ArrowUp") step(-1);
      else if (event.key === "Enter") setKeys((before) => ({ ...before, entered: { text, steps: before.steps } }));
      else return;
      event.preventDefault();
    },
    reset(): void {
      setKeys(NO_KEYS);
      setField(NO_RESULTS);
    },
  };
}
