import type { ComponentChildren } from "preact";

/** A value at a glance. */
export interface Figure {
  readonly term: string;
  readonly value: ComponentChildren;
  /** What there is to say about it. */
  readonly note?: ComponentChildren;
}

/** Values at a glance, beside each other. */
export function Figures({ items }: { readonly items: readonly Figure[] }) {
  return (
    <dl class="figures">
      {items.map(({ term, value, note }) => (
        <div key={term}>
          <dt>{term}</dt>
          <dd class="value">{value}</dd>
          {note && <dd class="minor">{note}</dd>}
        </div>
      ))}
    </dl>
  );
}
