import type { RefObject } from "preact";
import { useId, useState } from "preact/hooks";
import { lazily } from "../ui/lazily.tsx";
import type { SearchField, SearchSource } from "./search-results.tsx";
import "./search-box.css";

const MAX_LENGTH = 60;

const NO_RESULTS: SearchField = { placeholder: "" };

const Results = lazily(() => import("./search-results.tsx").then((it) => it.SearchResults));

/**
 * The search dialog. Its input is always in the page, so that `showModal` can focus it before the next key press. The
 * results appear once their code has loaded, and then handle the keys pressed so far.
 */
export function SearchBox(props: {
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
        <input
          placeholder={field.placeholder}
          aria-expanded={field.chosen !== undefined}
          aria-activedescendant={field.chosen}
          type="text"
          role="combobox"
          aria-label="Search"
          aria-controls={id}
          aria-autocomplete="list"
          autoComplete="off"
          spellcheck={false}
          maxLength={MAX_LENGTH}
          value={text}
          onInput={(event) => input.type(event.currentTarget.value)}
          onKeyDown={(event) => input.press(event, event.currentTarget.value)}
        />
        {props.isOpen && (
          <Results
            {...props.source}
            {...{ id, text, steps, entered }}
            setField={input.setField}
            clearEntered={input.clearEntered}
          />
        )}
      </div>
    </dialog>
  );
}

/** Tracks the input's text and key presses for the results. */
function useInput() {
  const [text, setText] = useState("");
  const [steps, setSteps] = useState(0);
  const [entered, setEntered] = useState<string>();
  const [field, setField] = useState(NO_RESULTS);
  const clearEntered = () => setEntered(undefined);
  const type = (typed: string) => {
    setText(typed);
    setSteps(0);
  };
  return {
    text,
    steps,
    entered,
    field,
    setField,
    clearEntered,
    type,
    press(event: KeyboardEvent, typed: string): void {
      if (event.key === "ArrowDown") setSteps((before) => before + 1);
      else if (event.key === "ArrowUp") setSteps((before) => before - 1);
      else if (event.key === "Enter") setEntered(typed);
      else return;
      event.preventDefault();
    },
    reset(): void {
      type("");
      clearEntered();
      setField(NO_RESULTS);
    },
  };
}
