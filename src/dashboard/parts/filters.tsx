import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { changeQuery, usePlace } from "../router.ts";
import { textOf } from "./form.tsx";
import { FIRST_PAGE } from "./pager.tsx";

/**
 * Fields that narrow a list down. Each is in the address's query by its name; a change takes effect
 * when the field is left or Enter is pressed, and leads to the first page.
 */
export function Filters(props: {
  /** The names of the fields. */
  readonly names: readonly string[];
  readonly children: ComponentChildren;
}) {
  const { names } = props;
  const { query } = usePlace();
  const given = names.map((name) => query.get(name) ?? "");
  const count = given.filter((text) => text !== "").length;
  // On a narrow screen the fields are hidden until they are asked for.
  const [isOpen, setOpen] = useState(false);
  // What the fields hold when the address has it from them.
  const shown = useRef({ text: given.join("\n"), round: 0 });
  if (shown.current.text !== given.join("\n")) {
    shown.current = { text: given.join("\n"), round: shown.current.round + 1 };
  }
  const apply = (form: HTMLFormElement) => {
    const data = new FormData(form);
    const typed = names.map((name) => textOf(data, name));
    if (typed.every((text, i) => text === given[i])) return;
    shown.current.text = typed.join("\n");
    changeQuery({ ...Object.fromEntries(names.map((name, i) => [name, typed[i]])), ...FIRST_PAGE });
  };
  const clear = () =>
    changeQuery({ ...Object.fromEntries(names.map((name) => [name, ""])), ...FIRST_PAGE });
  return (
    // Made anew when the address changes otherwise, such as by "back", to show what it says; not when a
    // field changes it, which would take the focus away.
    <form
      key={shown.current.round}
      class="filters"
      role="search"
      aria-label="Filters"
      onChange={(event) => apply(event.currentTarget)}
      onSubmit={(event) => {
        event.preventDefault();
        apply(event.currentTarget);
      }}
    >
      <button
        type="button"
        class="button disclose"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        Filters{count > 0 && ` (${count})`}
      </button>
      {props.children}
      {count > 0 && (
        <button type="button" class="button quiet" onClick={clear}>
          Clear
        </button>
      )}
    </form>
  );
}
