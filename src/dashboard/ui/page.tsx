import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { paths } from "../routes/paths.ts";
import "./page.css";

export interface Link {
  readonly label: string;
  readonly href: string;
}

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
  readonly up?: Link;
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

/** Stands where there is nothing yet, and says what to do next. */
export function Empty(props: {
  readonly title: string;
  readonly link?: Link | undefined;
  /** What to do instead of following a link, such as a button. */
  readonly action?: ComponentChildren;
  readonly children?: ComponentChildren;
}) {
  return (
    <div class="empty">
      <p class="empty-title">{props.title}</p>
      {props.children && <p>{props.children}</p>}
      {props.link && (
        <a class="button" href={props.link.href}>
          {props.link.label}
        </a>
      )}
      {props.action}
    </div>
  );
}

export const TO_START: Link = { label: "Go to the start", href: paths.home({}) };

/** Shown at an address that leads to no page. */
export function NotFoundPage() {
  return (
    <Page title="Page not found">
      <Empty title="There is nothing at this address" link={TO_START}>
        The link may be mistyped, or what it led to may be gone.
      </Empty>
    </Page>
  );
}

/** Views of one thing beside each other, each with an address of its own. */
export function Tabs(props: {
  readonly label: string;
  readonly tabs: readonly (Link & { readonly current: boolean })[];
}) {
  return (
    <nav class="tabs" aria-label={props.label}>
      {props.tabs.map(({ label, href, current }) => (
        <a key={href} href={href} aria-current={current ? "page" : undefined}>
          {label}
        </a>
      ))}
    </nav>
  );
}
