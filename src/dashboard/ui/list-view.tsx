import type { DescMessage, DescMethodUnary, MessageInitShape } from "@bufbuild/protobuf";
import type { ComponentChildren } from "preact";
import { useRpc, type Query } from "../api/use-query.ts";
import { Pager, usePageToken } from "./pager.tsx";
import { QueryView } from "./query-view.tsx";
import { Table, type TableProps } from "./table.tsx";

/** The page of a list that the address asks for, for a `<ListView>`. */
export function useList<I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  request: MessageInitShape<I>,
  pageSize = 50,
) {
  const pageToken = usePageToken();
  return useRpc(method, { ...request, pageToken, pageSize });
}

/** A list that a query loads: a table with a pager, or what stands there when nothing is in it. */
export function ListView<T>(
  props: Omit<TableProps<T>, "rows"> & {
    readonly query: Query<{ readonly data: readonly T[]; readonly nextPageToken?: string }>;
    /** Whether it is loaded anew by itself all the time. */
    readonly quiet?: boolean;
    readonly empty?: ComponentChildren;
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
