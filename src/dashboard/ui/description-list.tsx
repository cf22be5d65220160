import type { ComponentChildren } from "preact";

/** What there is to know of one thing: terms and their values. Those without a value are left out. */
export function Facts(props: {
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
