import type { ComponentChildren } from "preact";
import { plainText, type Labels, type Problem } from "../api/problem.ts";
import type { Query } from "../api/use-query.ts";
import { changeQuery } from "../routes/router.ts";
import { Button } from "./button.tsx";
import { FIRST_PAGE, PAGE_TOKEN } from "./pager.tsx";
import "./query-view.css";

/** Shows a query's data, its loading state, or its error with a retry button. */
export function QueryView<T>(props: {
  readonly query: Query<T>;
  readonly labels?: Labels;
  /** Whether to hide the reload indicator, because the query reloads continuously. */
  readonly quiet?: boolean;
  readonly children: (data: T) => ComponentChildren;
}) {
  const { data, problem, isLoading, reload } = props.query;
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
        <div class="loaded" aria-busy={isLoading && !props.quiet}>
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
      <Button onClick={() => changeQuery(FIRST_PAGE)}>Show first page</Button>
    </div>
  );
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
