import type { ComponentChildren } from "preact";

/** Terms and their values; those without a value are left out. */
export function DescriptionList(props: {
  readonly items: readonly (readonly [term: string, value: ComponentChildren])[];
}) {
  const given = props.items.filter(([, value]) => value !== undefined && value !== "");
  return (
    <dl class="facts">
      {given.map(([term, value]) => (
        <div key={term}>
          <dt>{term}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

export interface Figure {
  readonly term: string;
  readonly value: ComponentChildren;
  readonly note?: ComponentChildren;
}

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
