import type { ComponentChildren } from "preact";
import type { Choices } from "./fields.tsx";

export type Tone = "neutral" | "active" | "good" | "attention" | "bad";

export type Label = readonly [text: string, tone: Tone];

/** A state, as a small label; its words say all that its colour says. */
export function Badge(props: { readonly tone?: Tone; readonly children: ComponentChildren }) {
  return <span class={`badge ${props.tone ?? "neutral"}`}>{props.children}</span>;
}

/** The values of an enum that have labels, for a choice of one; without the unspecified one. */
export function choicesOf(labels: Readonly<Record<number, Label>>): Choices {
  return Object.entries(labels)
    .filter(([number]) => number !== "0")
    .map(([number, [text]]) => [number, text] as const);
}
