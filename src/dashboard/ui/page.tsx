import type { ComponentChildren } from "preact";
import { useContext, useEffect, useRef } from "preact/hooks";
import { useIsTest } from "../api/session.ts";
import { paths } from "../routes/paths.ts";
import { Code } from "@connectrpc/connect";
import type { Query } from "../api/use-query.ts";
import { LinkButton, Button } from "./button.tsx";
import { IsPeek } from "./peek.tsx";
import { plainText, type Labels, type Problem } from "../api/problem.ts";
import { changeQuery } from "../routes/router.ts";
import { FIRST_PAGE, PAGE_TOKEN } from "./pager.tsx";
import "./page.css";
import "./query-view.css";

/** Whether the screen has the width of a phone. The styles have the same limit. */
export const PHONE = matchMedia("(max-width: 40rem)");

export interface Link {
  readonly label: string;
  readonly href: string;
}

export function useTitle(title: string): void {
  const isTest = useIsTest();
  const isPeek = useContext(IsPeek);
  useEffect(() => {
    if (!isPeek) document.title = `${isTest ? "Test · " : ""}${title} · Shipments`;
  }, [title, isTest]);
}

export function Page(props: {
  readonly title: string;
  readonly up?: Link;
  readonly note?: ComponentChildren;
  /** Buttons and links, with the most common one last. */
  readonly actions?: ComponentChildren;
  readonly children?: ComponentChildren;
}) {
  useTitle(props.title);
  const isPeek = useContext(IsPeek);
  return (
    <>
      <header class="page-header">
        <div>
          {props.up && !isPeek && (
            <a class="up" href={props.up.href}>
              ← {props.up.label}
            </a>
          )}
          {isPeek ? <h2>{props.title}</h2> : <h1 tabIndex={-1}>{props.title}</h1>}
          {props.note}
        </div>
        {props.actions && <div class="actions">{props.actions}</div>}
      </header>
      {props.children}
    </>
  );
}

export function Section(props: {
  readonly title: string;
  readonly id?: string;
  readonly note?: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly children?: ComponentChildren;
}) {
  return (
    <section class="panel" id={props.id} tabIndex={props.id === undefined ? undefined : -1}>
      <header>
        <div>
          <h2>{props.title}</h2>
          {props.note}
        </div>
        {props.actions && <div class="actions">{props.actions}</div>}
      </header>
      {props.children}
    </section>
  );
}

/** Shows that a list is empty and what the next step is. */
export function Empty(props: {
  readonly title: string;
  readonly link?: Link | undefined;
  /** Whether an empty list is good news. */
  readonly isGood?: boolean;
  /** Alternative to a link, such as a button. */
  readonly action?: ComponentChildren;
  readonly children?: ComponentChildren;
}) {
  return (
    <div class={props.isGood ? "empty good" : "empty"}>
      <p class="empty-title">{props.title}</p>
      {props.children && <p>{props.children}</p>}
      {props.link && <LinkButton href={props.link.href}>{props.link.label}</LinkButton>}
      {props.action}
    </div>
  );
}

export const TO_START: Link = { label: "Go to the start", href: paths.home({}) };

export function NotFoundPage() {
  return (
    <Page title="Page not found">
      <Empty title="No page at this address" link={TO_START}>
        The link may be mistyped or outdated.
      </Empty>
    </Page>
  );
}

/** Tabs of one page, each with its own URL. */
export function Tabs(props: {
  readonly label: string;
  readonly tabs: readonly (Link & {
    readonly current: boolean;
    readonly note?: ComponentChildren;
  })[];
}) {
  const nav = useRef<HTMLElement>(null);
  const marked = props.tabs.find((tab) => tab.current)?.label;
  // Scroll the current tab into view, because narrow screens do not fit all tabs.
  useEffect(() => {
    const link = nav.current?.querySelector<HTMLElement>("[aria-current]");
    if (!nav.current || !link) return;
    nav.current.scrollLeft = link.offsetLeft - nav.current.offsetLeft - nav.current.clientWidth / 3;
  }, [marked]);
  return (
    <nav class="tabs" aria-label={props.label} ref={nav}>
      {props.tabs.map(({ label, href, current, note }) => (
        <a key={label} href={href} aria-current={current ? "page" : undefined}>
          {label}
          {note}
        </a>
      ))}
    </nav>
  );
}

/**
 * A page about one record that a query loads. If the record is missing, the page links to the list.
 *
 *     <DetailPage query={query} up={up} what="operator" ... missing="No operator ...">
 *       {(operator) => <About operator={operator} />}
 *     </DetailPage>
 */
export function DetailPage<T>(props: {
  readonly query: Query<{ readonly data?: T | undefined }>;
  readonly up: Link;
  readonly what: string;
  /** Title of the record, `fallbackTitle` by default. */
  readonly title?: (record: T) => string;
  readonly fallbackTitle: string;
  readonly missing: ComponentChildren;
  /** Whether to omit the link, because there is no list of all records. */
  readonly unlinked?: boolean;
  readonly note?: (record: T) => ComponentChildren;
  readonly actions?: (record: T) => ComponentChildren;
  readonly children: (record: T) => ComponentChildren;
}) {
  const { query, up, fallbackTitle } = props;
  const record = query.data?.data;
  if (query.problem?.code === Code.NotFound) {
    const link = props.unlinked ? undefined : { ...up, label: `Show all ${up.label.toLowerCase()}` };
    return (
      <Page title={fallbackTitle} up={up}>
        <Empty title={`This ${props.what} does not exist`} link={link}>
          {props.missing}
        </Empty>
      </Page>
    );
  }
  return (
    <Page
      title={(record && props.title?.(record)) ?? fallbackTitle}
      up={up}
      note={record && props.note?.(record)}
      actions={record && props.actions?.(record)}
    >
      <QueryView query={query}>{({ data }) => data && props.children(data)}</QueryView>
    </Page>
  );
}

/** Shows a query's data, its loading state, or its error with a retry button. */
export function QueryView<T>(props: {
  readonly query: Query<T>;
  readonly labels?: Labels;
  readonly children: (data: T) => ComponentChildren;
}) {
  const { data, problem, isLoading, isOutdated, reload } = props.query;
  return (
    <>
      {problem && <ProblemNote problem={problem} labels={props.labels} retry={reload} />}
      {data === undefined ? (
        isLoading && (
          <div class="loading" role="status">
            <span class="visually-hidden">Loading…</span>
          </div>
        )
      ) : (
        <div class="loaded" aria-busy={isOutdated}>
          {props.children(data)}
        </div>
      )}
    </>
  );
}

/** A spinner. A delay prevents flicker on fast loads. */
export function Spinner({ label }: { readonly label: string }) {
  return (
    <p class="spinner" role="status">
      {label}…
    </p>
  );
}

/** A progress bar. `done` is from 0 to 1, or `undefined` while unknown. */
export function Progress(props: { readonly label: string; readonly done?: number | undefined }) {
  const { done } = props;
  return (
    <label class="progress">
      <span>
        {props.label}
        {done !== undefined && ` ${Math.floor(done * 100)} %`}
      </span>
      <progress {...(done === undefined ? {} : { value: done, max: 1 })} />
    </label>
  );
}

/** Shown if the URL's cursor is beyond the last page, for example because the filters have changed. */
function NoSuchPage() {
  return (
    <div class="problem" role="alert">
      <p>This page does not exist with these filters.</p>
      <FirstPageButton />
    </div>
  );
}

export function FirstPageButton() {
  return <Button onClick={() => changeQuery(FIRST_PAGE)}>Show first page</Button>;
}

export function ProblemNote(props: {
  readonly problem: Problem;
  readonly labels?: Labels | undefined;
  readonly retry?: (() => void) | undefined;
}) {
  const { message, fields } = props.problem;
  if (fields[PAGE_TOKEN] !== undefined) return <NoSuchPage />;
  const texts = Object.entries(fields).flatMap(([name, all]) => all.map((text) => plainText(text, name, props.labels)));
  return (
    <div class="problem" role="alert">
      {(texts.length === 0 ? [message] : [...new Set(texts)]).map((text) => (
        <p key={text}>{text}</p>
      ))}
      {props.retry && <Button onClick={props.retry}>Try again</Button>}
    </div>
  );
}
