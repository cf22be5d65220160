import type { ComponentChildren } from "preact";

/** What a state means for the reader. */
export type Tone = "neutral" | "active" | "good" | "attention" | "bad";

/** A state, as a small label; its words say all that its colour says. */
export function Badge(props: { readonly tone?: Tone; readonly children: ComponentChildren }) {
  return <span class={`badge ${props.tone ?? "neutral"}`}>{props.children}</span>;
}
