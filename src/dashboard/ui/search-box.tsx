import { useId } from "preact/hooks";
import type { SubmitAction } from "./form.tsx";
import "./filters.css";

export function SearchBox(props: {
  readonly action: SubmitAction;
  readonly label: string;
  readonly placeholder: string;
  /** What can be typed; shown while somebody types, and when nothing was found. */
  readonly hint: string;
}) {
  const { action, label } = props;
  const id = useId();
  return (
    <form
      class="search-box"
      role="search"
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault();
        void action.run(new FormData(event.currentTarget));
      }}
    >
      <input
        type="search"
        name="search"
        aria-label={label}
        aria-keyshortcuts="/"
        aria-describedby={id}
        onInput={action.reset}
        placeholder={props.placeholder}
        autoComplete="off"
        spellcheck={false}
      />
      <button type="submit" class="button" aria-busy={action.isRunning}>
        Find
      </button>
      <div class="search-note">
        {action.problem && (
          <p class="field-error" role="alert">
            {action.problem.message}
          </p>
        )}
        <p class="hint" id={id}>
          {props.hint}
        </p>
      </div>
    </form>
  );
}
