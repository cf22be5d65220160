import type { DescMessage, DescMethodUnary, MessageInitShape } from "@bufbuild/protobuf";
import type { ComponentChildren, RefObject } from "preact";
import { useRef } from "preact/hooks";
import { useRpc, type Query } from "../api/use-query.ts";
import { withQuery } from "../routes/paths.ts";
import { isModified, usePlace } from "../routes/router.ts";
import { FIRST_PAGE, Pager, usePageToken } from "./pager.tsx";
import { type Peek, PeekView, usePeek } from "./peek.tsx";
import { QueryView } from "./query-view.tsx";
import { type Keys, useKeys } from "./use-keys.ts";
import "./table.css";

export interface Column<T> {
  readonly header: string;
  readonly cell: (row: T) => ComponentChildren;
  /** Amounts and counts stand at the end, so that their digits are below each other. */
  readonly align?: "end";
  /** Whether a value says by itself what it is; then it stands without its heading on narrow screens. */
  readonly selfEvident?: boolean;
  /** Whether what does not fit is cut off, in a list; a wide one takes what room there is. */
  readonly clips?: boolean | "wide";
  /** Whether the link that covers the row is in it; in the first one when none says so. */
  readonly leads?: boolean;
  /** Whether it is left out where a list is narrow, such as beside what is open. */
  readonly spare?: boolean;
  /** How the service can order by it: at the first press of its heading, and at the second. */
  readonly orders?: readonly [first: string, second: string];
}

export interface Order {
  readonly by: string;
  /** By what the list is ordered when the address does not say. */
  readonly usual: string;
  readonly allows: (order: string) => boolean;
}

/** The name of an order in addresses, as in requests. */
export const ORDER_BY = "order_by";

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
  /** Whether lines are not broken where the screen is wide enough, below a heading that stays. */
  readonly isList?: boolean;
  readonly selection?: Selection<T> | undefined;
  readonly order?: Order;
  /** What is open beside it; undefined where nothing can be. */
  readonly peek?: Peek | undefined;
  /** What keys do with the row that has the focus, or else is open. */
  readonly rowKeys?: Readonly<Record<string, (row: T | undefined) => void>>;
}

/**
 * Rows under a heading each. Where `href` is given, a row leads there: one cell has a link that covers the row, and
 * `j`, `k` and the arrow keys go from row to row, Enter opens one. With `selection`, `x` selects the row that has the
 * focus, and a click with Shift all rows from the one before. With `peek`, a click, `o` and Space open a row beside
 * the list, and what is open follows the keys. On a narrow screen each row becomes a block, with the headings beside
 * the values that need them.
 */
export function Table<T>(props: TableProps<T>) {
  const { columns, href, rows, selection, peek, keyOf = idOf } = props;
  const body = useRef<HTMLTableSectionElement>(null);
  const select = useSelect(props);
  useRowKeys(props, body, select);
  const peekAt = (row: T) => (event: MouseEvent) => {
    // By Enter a link is clicked at no place.
    if (peek === undefined || event.detail === 0 || isModified(event)) return;
    event.preventDefault();
    peek.open(keyOf(row));
  };
  const leading = Math.max(
    columns.findIndex(({ leads }) => leads),
    0,
  );
  // With `display` changed for narrow screens, browsers forget the roles of a table's elements.
  return (
    <table
      class={props.isList ? "table one-line" : "table"}
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
            aria-current={(peek?.key !== undefined && peek.key === keyOf(row)) || undefined}
          >
            {selection && (
              <td role="cell" class="box">
                <label>
                  <input
                    type="checkbox"
                    aria-label={`Select ${selection.nameOf(row)}`}
                    checked={selection.has(row)}
                    onClick={(event) => select(place, event.shiftKey)}
                    onKeyDown={({ key }) => key === "Enter" && linkOf(body.current, place)?.click()}
                  />
                </label>
              </td>
            )}
            {columns.map((column, i) => (
              <Cell
                key={column.header}
                {...{ column, row }}
                href={i === leading && href?.(row)}
                open={peekAt(row)}
              />
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The keys of rows: which go from one to the next, open, select and act. */
function useRowKeys<T>(
  props: TableProps<T>,
  body: RefObject<Body | null>,
  select: (place: number, toRange: boolean) => void,
): void {
  const { href, rows, selection, peek, rowKeys = {}, keyOf = idOf } = props;
  /** The place of the row that has the focus, or else is open; -1 when none is. */
  const current = () => {
    const focused = focusedRow(body.current);
    return focused === -1 ? rows.findIndex((row) => keyOf(row) === peek?.key) : focused;
  };
  const go = (step: number) => () => {
    const at = current();
    const next = at === -1 ? 0 : Math.min(Math.max(at + step, 0), rows.length - 1);
    linkOf(body.current, next)?.focus();
    if (peek?.key !== undefined && rows[next]) peek.open(keyOf(rows[next]));
  };
  const withCurrent = (act: (place: number) => unknown) => () => {
    const at = current();
    return at === -1 ? false : act(at);
  };
  const open = withCurrent((at) => {
    if (peek === undefined) linkOf(body.current, at)?.click();
    else if (peek.key === keyOf(rows[at]!)) peek.close();
    else peek.open(keyOf(rows[at]!));
  });
  const actKeys = Object.entries(rowKeys).map(
    ([key, act]) => [key, () => act(rows[current()])] as const,
  );
  useKeys({
    ...(href && { j: go(1), k: go(-1), ArrowDown: go(1), ArrowUp: go(-1), o: open }),
    ...(peek && { " ": open }),
    ...(selection && { x: withCurrent((at) => select(at, false)) }),
    ...(Object.fromEntries(actKeys) satisfies Keys),
  });
}

function idOf(row: unknown): string {
  return String((row as { readonly id: unknown }).id);
}

function TableHead<T>({ columns, rows, selection, label, order }: TableProps<T>) {
  return (
    <thead role="rowgroup">
      <tr role="row">
        {selection && (
          <th role="columnheader" scope="col" class="box">
            <AllBox {...{ rows, selection, label }} />
          </th>
        )}
        {columns.map((column) => (
          <th
            key={column.header}
            role="columnheader"
            scope="col"
            class={classOf(column)}
            aria-sort={order && directionOf(column, order)}
          >
            {order && column.orders && order.allows(column.orders[0]) ? (
              <OrderLink header={column.header} orders={column.orders} order={order} />
            ) : (
              column.header
            )}
          </th>
        ))}
      </tr>
    </thead>
  );
}

function directionOf<T>({ orders }: Column<T>, { by }: Order) {
  if (!orders?.includes(by)) return undefined;
  return by.endsWith(" desc") ? "descending" : "ascending";
}

/** A heading that orders the list, and the other way round when pressed again. */
function OrderLink(props: {
  readonly header: string;
  readonly orders: readonly [string, string];
  readonly order: Order;
}) {
  const { header, orders, order } = props;
  const { pathname, query } = usePlace();
  const next = order.by === orders[0] ? orders[1] : orders[0];
  const changes = { ...FIRST_PAGE, [ORDER_BY]: next === order.usual ? undefined : next };
  const sign = order.by.endsWith(" desc") ? "↓" : "↑";
  return (
    <a href={withQuery(pathname, { ...Object.fromEntries(query), ...changes })}>
      {header} <span aria-hidden="true">{orders.includes(order.by) && sign}</span>
    </a>
  );
}

function classOf<T>({ align, clips, spare }: Column<T>): string {
  const names = [align, clips && "clips", clips === "wide" && "wide", spare && "spare"];
  return names.filter(Boolean).join(" ");
}

function Cell<T>(props: {
  readonly column: Column<T>;
  readonly row: T;
  /** Where the row leads, in the cell that has its link. */
  readonly href: string | false | undefined;
  readonly open: (event: MouseEvent) => void;
}) {
  const { header, cell, selfEvident } = props.column;
  const content = cell(props.row);
  return (
    <td
      role="cell"
      dir="auto"
      class={classOf(props.column)}
      data-label={selfEvident ? undefined : header}
    >
      {props.href ? (
        <a class="row-link" href={props.href} onClick={props.open}>
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

function linkOf(body: Body | null, place: number) {
  return body?.rows[place]?.querySelector<HTMLElement>(".row-link");
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

/**
 * A list that a query loads: a table with a pager, or what stands there when nothing is in it. With `opened`, a row is
 * shown beside it by what `keyOf` says of it.
 */
export function ListView<T>(
  props: Omit<TableProps<T>, "rows" | "peek"> & {
    readonly query: Query<{ readonly data: readonly T[]; readonly nextPageToken?: string }>;
    /** Whether it is reloaded by itself all the time. */
    readonly quiet?: boolean;
    readonly empty?: ComponentChildren;
    readonly opened?: {
      readonly hrefOf: (key: string) => string;
      readonly view: (key: string) => ComponentChildren;
    };
    /** What stands beside the rows, with what is open below it, such as a map of them. */
    readonly beside?:
      | ((rows: readonly T[], peek: Peek | undefined) => ComponentChildren)
      | undefined;
    readonly children?: ComponentChildren;
  },
) {
  const { query, quiet = false, empty, opened, beside, children, ...table } = props;
  const room = usePeek();
  const peek = opened && room;
  const list = (
    <QueryView query={query} quiet={quiet}>
      {({ data, nextPageToken }) =>
        data.length === 0 ? (
          empty
        ) : (
          <>
            {children}
            <Table {...table} peek={peek} rows={data} />
            {nextPageToken !== undefined && <Pager nextPageToken={nextPageToken} />}
          </>
        )
      }
    </QueryView>
  );
  if (opened === undefined) return list;
  const rows = query.data?.data ?? [];
  const view = peek && (
    <PeekView peek={peek} href={opened.hrefOf}>
      {opened.view}
    </PeekView>
  );
  // Its room is kept while the rows are loaded.
  const isBeside = beside !== undefined && (query.data === undefined || rows.length > 0);
  return (
    <div class={isBeside || peek?.key !== undefined ? "peeking" : ""}>
      <div class="list">{list}</div>
      {isBeside ? (
        <div class="beside">
          {rows.length > 0 && beside(rows, peek)}
          {view}
        </div>
      ) : (
        view
      )}
    </div>
  );
}
