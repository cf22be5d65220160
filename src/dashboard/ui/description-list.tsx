import type { ComponentChildren } from "preact";
import type { Choices } from "./fields.tsx";

/** Terms and their values. Terms without a value are omitted. */
export function DescriptionList(props: {
  readonly items: readonly (readonly [term: ComponentChildren, value: ComponentChildren])[];
}) {
  const items = props.items.filter(([, value]) => value !== undefined && value !== false && value !== "");
  return (
    <dl class="facts">
      {items.map(([term, value], i) => (
        <div key={typeof term === "string" ? term : i}>
          <dt>{term}</dt>
          <dd dir="auto">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

export interface Figure {
  readonly term: string;
  readonly value: ComponentChildren;
  /** Change from an earlier period. */
  readonly delta?: ComponentChildren;
  readonly note?: ComponentChildren;
  /** Link to the counted records. */
  readonly href?: string | undefined;
}

export function Figures({ items }: { readonly items: readonly Figure[] }) {
  return (
    <dl class="figures">
      {items.map(({ term, value, delta, note, href }) => (
        <div key={term}>
          <dt>{term}</dt>
          <dd class="value">
            <Linked href={href}>{value}</Linked>
            {delta}
          </dd>
          {note && <dd class="minor">{note}</dd>}
        </div>
      ))}
    </dl>
  );
}

/** A link, or plain text if `href` is `undefined`. */
export function Linked(props: { readonly href: string | undefined; readonly children: ComponentChildren }) {
  return props.href === undefined ? <>{props.children}</> : <a {...props} />;
}

export type Tone = "neutral" | "active" | "good" | "attention" | "bad";

export type Label = readonly [text: string, tone: Tone];

/** A state as a small label. The color never carries meaning that the text lacks. */
export function Badge(props: { readonly tone?: Tone; readonly children: ComponentChildren }) {
  return <span class={`badge ${props.tone ?? "neutral"}`}>{props.children}</span>;
}

/** Returns the labeled values of an enum as choices, without the unspecified one. */
export function choicesOf(labels: Readonly<Record<number, Label>>): Choices {
  return Object.entries(labels)
    .filter(([number]) => number !== "0")
    .map(([number, [text]]) => [number, text] as const);
}
