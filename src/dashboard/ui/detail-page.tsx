import { Code } from "@connectrpc/connect";
import type { ComponentChildren } from "preact";
import type { Query } from "../api/use-query.ts";
import { Empty, Page, type Link } from "./page.tsx";
import { QueryView } from "./query-view.tsx";

/**
 * A page about one record that a query loads; where there is none, says so and leads to all of them.
 *
 *     <DetailPage query={query} up={up} what="operator" ... missing="No operator ...">
 *       {(operator) => <About operator={operator} />}
 *     </DetailPage>
 */
export function DetailPage<T>(props: {
  readonly query: Query<{ readonly data?: T | undefined }>;
  readonly up: Link;
  readonly what: string;
  readonly title: (record: T) => string;
  readonly fallbackTitle: string;
  readonly missing: ComponentChildren;
  /** Whether there is no list of all to be led to. */
  readonly unlinked?: boolean;
  readonly note?: (record: T) => ComponentChildren;
  readonly actions?: (record: T) => ComponentChildren;
  /** Whether it is loaded anew by itself all the time. */
  readonly quiet?: boolean;
  readonly children: (record: T) => ComponentChildren;
}) {
  const { query, up, fallbackTitle } = props;
  const record = query.data?.data;
  if (query.problem?.code === Code.NotFound) {
    const link = props.unlinked
      ? undefined
      : { ...up, label: `Show all ${up.label.toLowerCase()}` };
    return (
      <Page title={fallbackTitle} up={up}>
        <Empty title={`There is no such ${props.what}`} link={link}>
          {props.missing}
        </Empty>
      </Page>
    );
  }
  return (
    <Page
      title={record ? props.title(record) : fallbackTitle}
      up={up}
      note={record && props.note?.(record)}
      actions={record && props.actions?.(record)}
    >
      <QueryView query={query} quiet={props.quiet ?? false}>
        {({ data }) => data && props.children(data)}
      </QueryView>
    </Page>
  );
}
