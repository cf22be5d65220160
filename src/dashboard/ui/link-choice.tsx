import { withQuery } from "../routes/paths.ts";
import { usePlace } from "../routes/router.ts";
import type { Choices } from "./fields.tsx";
import { PAGE_TOKEN } from "./pager.tsx";
import "./filters.css";

/** Links to the same page with one thing of the address as another, of which one is current. */
export function LinkChoice(props: {
  readonly label: string;
  readonly name: string;
  /** Values and what they are called; the empty one leaves the name out. */
  readonly choices: Choices;
  /** The value that is current; undefined for none of them. */
  readonly current: string | undefined;
  /** What else of the address is left out by a choice. */
  readonly without?: readonly string[];
}) {
  const { name, current, without = [] } = props;
  const { pathname, query } = usePlace();
  const others = Object.fromEntries(query);
  for (const left of [PAGE_TOKEN, ...without]) delete others[left];
  return (
    <nav class="quick-days" aria-label={props.label}>
      {props.choices.map(([value, label]) => (
        <a
          key={value}
          href={withQuery(pathname, { ...others, [name]: value })}
          aria-current={value === current ? "true" : undefined}
        >
          {label}
        </a>
      ))}
    </nav>
  );
}
