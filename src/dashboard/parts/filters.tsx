import type { ComponentChildren } from "preact";
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
  const apply = (form: HTMLFormElement) => {
    const data = new FormData(form);
    const typed = names.map((name) => textOf(data, name));
    if (typed.every((text, i) => text === given[i])) return;
    changeQuery({ ...Object.fromEntries(names.map((name, i) => [name, typed[i]])), ...FIRST_PAGE });
  };
  const clear = () =>
    changeQuery({ ...Object.fromEntries(names.map((name) => [name, ""])), ...FIRST_PAGE });
  return (
    // Made anew when the address changes otherwise, such as by "back", to show what it says.
    <form
      key={given.join("\n")}
      class="filters"
      role="search"
      aria-label="Filters"
      onChange={(event) => apply(event.currentTarget)}
      onSubmit={(event) => {
        event.preventDefault();
        apply(event.currentTarget);
      }}
    >
      {props.children}
      {given.some((text) => text !== "") && (
        <button type="button" class="button quiet" onClick={clear}>
          Clear
        </button>
      )}
    </form>
  );
}
