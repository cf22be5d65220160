import type { ComponentChildren } from "preact";
import type { Query } from "../api/use-query.ts";
import { Pager } from "./pager.tsx";
import { QueryView } from "./query-view.tsx";
import { Table, type TableProps } from "./table.tsx";

/** A list that a query loads: a table with a pager, or what stands there when nothing is in it. */
export function ListView<T>(
  props: Omit<TableProps<T>, "rows"> & {
    readonly query: Query<{ readonly data: readonly T[]; readonly nextPageToken?: string }>;
    /** Whether it is loaded anew by itself all the time. */
    readonly quiet?: boolean;
    readonly empty: ComponentChildren;
    readonly children?: ComponentChildren;
  },
) {
  const { query, quiet = false, empty, children, ...table } = props;
  return (
    <QueryView query={query} quiet={quiet}>
      {({ data, nextPageToken }) =>
        data.length === 0 ? (
          empty
        ) : (
          <>
            {children}
            <Table {...table} rows={data} />
            {nextPageToken !== undefined && <Pager nextPageToken={nextPageToken} />}
          </>
        )
      }
    </QueryView>
  );
}
