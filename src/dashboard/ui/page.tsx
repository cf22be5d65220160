import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";

/** Names the page in the browser's tab and history. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Shipments`;
  }, [title]);
}

/** A page: its heading, what can be done on it, and its content. */
export function Page(props: {
  readonly title: string;
  /** The page above this one, shown as a way back. */
  readonly up?: { readonly label: string; readonly href: string };
  /** Beside the heading, such as a state. */
  readonly note?: ComponentChildren;
  /** Buttons and links, the most usual last. */
  readonly actions?: ComponentChildren;
  readonly children?: ComponentChildren;
}) {
  useTitle(props.title);
  return (
    <>
      <header class="page-header">
        <div>
          {props.up && (
            <a class="up" href={props.up.href}>
              ← {props.up.label}
            </a>
          )}
          <h1 tabIndex={-1}>{props.title}</h1>
          {props.note}
        </div>
        {props.actions && <div class="actions">{props.actions}</div>}
      </header>
      {props.children}
    </>
  );
}

/** A part of a page under a heading of its own, in a frame. */
export function Section(props: {
  readonly title: string;
  readonly actions?: ComponentChildren;
  readonly children?: ComponentChildren;
}) {
  return (
    <section class="panel">
      <header>
        <h2>{props.title}</h2>
        {props.actions && <div class="actions">{props.actions}</div>}
      </header>
      {props.children}
    </section>
  );
}
