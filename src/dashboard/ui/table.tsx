import type { DescMessage, DescMethodUnary, MessageInitShape } from "@bufbuild/protobuf";
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { useRpc, type Query } from "../api/use-query.ts";
import { Pager, usePageToken } from "./pager.tsx";
import { QueryView } from "./query-view.tsx";
import { useKeys } from "./use-keys.ts";
import "./table.css";

export interface Column<T> {
  readonly header: string;
  readonly cell: (row: T) => ComponentChildren;
  /** Amounts and counts stand at the end, so that their digits are below each other. */
  readonly align?: "end";
  /** Whether a value says by itself what it is; then it stands without its heading on narrow screens. */
  readonly selfEvident?: boolean;
  /** Whether what does not fit is cut off, in a table whose rows are of one line. */
  readonly clips?: boolean;
}

export interface Selection<T> {
  readonly has: (row: T) => boolean;
  readonly change: (rows: readonly T[], isSelected: boolean) => void;
  /** What a row is called. */
  readonly nameOf: (row: T) => string;
}

export interface TableProps<T> {
  /** What the rows are, for screen readers. */
  readonly label: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  /** What tells rows apart; their `id` when not given. */
  readonly keyOf?: (row: T) => string;
  readonly href?: (row: T) => string;
  /** Whether rows are of one line where the screen is wide enough, below a heading that stays. */
  readonly oneLine?: boolean;
  readonly selection?: Selection<T> | undefined;
}

/**
 * Rows under a heading each. Where `href` is given, a row leads there: its first cell is a link that
 * covers the row, and `j`, `k` and the arrow keys go from row to row, Enter opens one. With `selection`,
 * `x` selects the row that has the focus, and a click with Shift all rows from the one before. On a narrow
 * screen each row becomes a block, with the headings beside the values that need them.
 */
export function Table<T>(props: TableProps<T>) {
  const { columns, href, rows, selection, keyOf = idOf } = props;
  const body = useRef<HTMLTableSectionElement>(null);
  const go = (step: number) => focusRow(body.current, step);
  const select = useSelect(props);
  const selectFocused = () => {
    const row = focusedRow(body.current);
    if (row !== -1) select(row, false);
  };
  useKeys({
    ...(href && { j: () => go(1), k: () => go(-1), ArrowDown: () => go(1), ArrowUp: () => go(-1) }),
    ...(selection && { x: selectFocused }),
  });
  // With `display` changed for narrow screens, browsers forget the roles of a table's elements.
  return (
    <table
      class={props.oneLine ? "table one-line" : "table"}
      role="table"
      tabIndex={-1}
      aria-label={props.label}
    >
      <TableHead {...props} />
      <tbody role="rowgroup" ref={body}>
        {rows.map((row, place) => (
          <tr
            key={keyOf(row)}
            role="row"
            class={href && "leads"}
            data-selected={selection?.has(row) || undefined}
          >
            {selection && (
              <td role="cell" class="box">
                <label>
                  <input
                    type="checkbox"
                    aria-label={`Select ${selection.nameOf(row)}`}
                    checked={selection.has(row)}
                    onClick={(event) => select(place, event.shiftKey)}
                    onKeyDown={({ key }) =>
                      key === "Enter" && linkOf(body.current!, place)?.click()
                    }
                  />
                </label>
              </td>
            )}
            {columns.map((column, i) => (
              <Cell key={column.header} {...{ column, row }} href={i === 0 && href?.(row)} />
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function idOf(row: unknown): string {
  return String((row as { readonly id: unknown }).id);
}

function TableHead<T>({ columns, rows, selection, label }: TableProps<T>) {
  return (
    <thead role="rowgroup">
      <tr role="row">
        {selection && (
          <th role="columnheader" scope="col" class="box">
            <AllBox {...{ rows, selection, label }} />
          </th>
        )}
        {columns.map(({ header, align }) => (
          <th key={header} role="columnheader" scope="col" class={align}>
            {header}
          </th>
        ))}
      </tr>
    </thead>
  );
}

function Cell<T>(props: {
  readonly column: Column<T>;
  readonly row: T;
  /** Where the row leads, in its first cell. */
  readonly href: string | false | undefined;
}) {
  const { header, align, cell, selfEvident, clips } = props.column;
  const content = cell(props.row);
  return (
    <td role="cell" class={clips ? "clips" : align} data-label={selfEvident ? undefined : header}>
      {props.href ? (
        <a class="row-link" href={props.href}>
          {content}
        </a>
      ) : (
        content
      )}
    </td>
  );
}

/** Selects the row at a place, or those from the last one that was, if it is shown; or takes them out again. */
function useSelect<T>({ rows, keyOf = idOf, selection }: TableProps<T>) {
  const last = useRef<string>(undefined);
  return (place: number, toRange: boolean) => {
    const row = rows[place]!;
    const isSelected = !selection!.has(row);
    // Rows may have come before it since.
    const before = toRange ? rows.findIndex((it) => keyOf(it) === last.current) : -1;
    const start = before === -1 ? place : before;
    last.current = keyOf(row);
    selection!.change(rows.slice(Math.min(start, place), Math.max(start, place) + 1), isSelected);
  };
}

/** Selects all rows that are shown, or none of them. */
function AllBox<T>(props: {
  readonly rows: readonly T[];
  readonly selection: Selection<T>;
  readonly label: string;
}) {
  const { rows, selection } = props;
  const count = rows.filter(selection.has).length;
  const isAll = count === rows.length;
  return (
    <label>
      <input
        type="checkbox"
        aria-label={`Select all on this page: ${props.label}`}
        checked={isAll}
        indeterminate={count > 0 && !isAll}
        onClick={() => selection.change(rows, !isAll)}
      />
      <span class="box-text">Select all on this page</span>
    </label>
  );
}

type Body = HTMLTableSectionElement;

/** The place of the row that has the focus, wherever in it; -1 when none has. */
function focusedRow(body: Body | null): number {
  return [...(body?.rows ?? [])].findIndex((row) => row.contains(document.activeElement));
}

function linkOf(body: Body, place: number) {
  return body.rows[place]?.querySelector<HTMLElement>(".row-link");
}

/** Moves the focus to the row so many steps on, from none to the first. */
function focusRow(body: Body | null, step: number): void {
  if (body === null) return;
  const at = focusedRow(body);
  linkOf(body, at === -1 ? 0 : Math.min(Math.max(at + step, 0), body.rows.length - 1))?.focus();
}

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
    /** Whether it is reloaded by itself all the time. */
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
