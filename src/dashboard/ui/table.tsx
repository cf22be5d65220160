import type { DescMessage, DescMethodUnary, MessageInitShape } from "@bufbuild/protobuf";
import { type ComponentChildren, Fragment, type RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useRpc, type Query } from "../api/use-query.ts";
import { withQuery } from "../routes/paths.ts";
import { isModified, useLocation } from "../routes/router.ts";
import { FIRST_PAGE, Pager, usePageToken } from "./pager.tsx";
import { type Peek, PeekView, usePeek } from "./peek.tsx";
import { QueryView } from "./page.tsx";
import { type Keys, useKeys } from "./use-keys.ts";
import "./table.css";

export interface Column<T> {
  readonly header: string;
  readonly cell: (row: T) => ComponentChildren;
  /** Aligns amounts and counts at the end, so that their digits line up. */
  readonly align?: "end";
  /** Whether the value is clear without its heading, which narrow screens then omit. */
  readonly selfEvident?: boolean;
  /** Whether a list cuts off overflow. A "wide" column takes the remaining width. */
  readonly clips?: boolean | "wide";
  /** Whether this column holds the link that covers the row. By default the first column does. */
  readonly leads?: boolean;
  /** Whether narrow lists hide the column: "first" before others, "medium" only between 46.5 and 60rem. */
  readonly spare?: boolean | "first" | "medium";
  /** Values of `order_by` after the first and second press of the heading. */
  readonly orders?: readonly [first: string, second: string];
}

/** One line of a cell. Overflow is cut off, but the tooltip has the full text. */
export function Line(props: {
  readonly text: string | undefined;
  readonly title?: string | undefined;
  readonly isMinor?: boolean;
  readonly children?: ComponentChildren;
}) {
  const { text, title = text, isMinor, children = text } = props;
  if (!text) return null;
  return (
    <span class={isMinor ? "line minor" : "line"} dir="auto" title={title}>
      {children}
    </span>
  );
}

/** Returns the column of a row's buttons. */
export function rowActions<T>(buttons: (row: T) => ComponentChildren): Column<T> {
  const cell = (row: T) => <span class="row-actions">{buttons(row)}</span>;
  return { header: "Actions", align: "end", selfEvident: true, cell };
}

export interface Order {
  readonly by: string;
  /** Default order. */
  readonly usual: string;
  readonly allows: (order: string) => boolean;
}

/** Query parameter of the order, named as in API requests. */
export const ORDER_BY = "order_by";

interface Selection<T> {
  readonly has: (row: T) => boolean;
  readonly change: (rows: readonly T[], isSelected: boolean) => void;
  /** Returns the accessible name of a row. */
  readonly nameOf: (row: T) => string;
}

export interface TableProps<T> {
  /** Name of the rows for screen readers. */
  readonly label: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  /** Returns a row's unique key. Its `id` by default. */
  readonly keyOf?: (row: T) => string;
  readonly href?: (row: T) => string;
  /** Returns the heading of a row's group, shown where it changes. */
  readonly groupOf?: ((row: T) => string | undefined) | undefined;
  /** Whether rows stay on one line on wide screens, below a sticky heading. */
  readonly isList?: boolean;
  readonly selection?: Selection<T> | undefined;
  readonly order?: Order | undefined;
  /** The row that is open beside the table, `undefined` if rows cannot be opened there. */
  readonly peek?: Peek | undefined;
  /** Keyboard shortcuts for the focused row, otherwise for the open one. */
  readonly rowKeys?: Readonly<Record<string, (row: T | undefined) => void>>;
}

/** Number of rows drawn first. The others follow in another task, because layout and paint of 50 take up to 57 ms. */
const FIRST_ROWS = 25;

/**
 * A table with headings.
 *
 * - With `href`, a link covers each row. `j`, `k` and the arrow keys move between rows. Enter opens one.
 * - With `selection`, `x` selects the focused row. Shift-click selects a range.
 * - With `peek`, a click, `o` or Space opens a row beside the list, and the keys then change that row.
 *
 * On narrow screens each row becomes a block that repeats the headings its values need.
 */
export function Table<T>(props: TableProps<T>) {
  const { columns, href, rows, selection, peek, keyOf = idOf, groupOf = () => undefined } = props;
  const body = useRef<HTMLTableSectionElement>(null);
  const select = useSelect(props);
  useRowKeys(props, body, select);
  const [isComplete, setComplete] = useState(rows.length <= FIRST_ROWS);
  useEffect(() => setComplete(true), []);
  const peekAt = (row: T) => (event: MouseEvent) => {
    // A click from the keyboard has no pointer position and a detail of 0.
    if (peek === undefined || event.detail === 0 || isModified(event)) return;
    event.preventDefault();
    peek.open(keyOf(row));
  };
  const leading = Math.max(
    columns.findIndex(({ leads }) => leads),
    0,
  );
  // Explicit roles, because browsers drop the implicit ones when `display` changes on narrow screens.
  return (
    <table class={props.isList ? "table one-line" : "table"} role="table" tabIndex={-1} aria-label={props.label}>
      <TableHead {...props} />
      <tbody role="rowgroup" ref={body}>
        {rows.slice(0, isComplete ? undefined : FIRST_ROWS).map((row, index) => (
          <Fragment key={keyOf(row)}>
            <GroupHeading name={groupOf(row)} before={index === 0 ? undefined : groupOf(rows[index - 1]!)} />
            <tr
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
                      onClick={(event) => select(index, event.shiftKey)}
                      onKeyDown={({ key }) => key === "Enter" && linkOf(body.current, index)?.click()}
                    />
                  </label>
                </td>
              )}
              {columns.map((column, i) => (
                <Cell
                  key={column.header}
                  {...{ column, row }}
                  isLead={i === leading}
                  href={i === leading ? href?.(row) : undefined}
                  open={peekAt(row)}
                />
              ))}
            </tr>
          </Fragment>
        ))}
      </tbody>
    </table>
  );
}

function GroupHeading({ name, before }: { readonly name: string | undefined; readonly before: string | undefined }) {
  if (name === undefined || name === before) return null;
  return (
    <tr role="row" class="group">
      <td role="rowheader" colSpan={99}>
        {name}
      </td>
    </tr>
  );
}

/** Adds shortcuts that move between rows and open, select or act on them. */
function useRowKeys<T>(
  props: TableProps<T>,
  body: RefObject<Body | null>,
  select: (index: number, toRange: boolean) => void,
): void {
  const { href, rows, selection, peek, rowKeys = {}, keyOf = idOf } = props;
  /** Returns the index of the focused row, otherwise of the open row, otherwise -1. */
  const current = () => {
    const focused = focusedRow(body.current);
    return focused === -1 ? rows.findIndex((row) => keyOf(row) === peek?.key) : focused;
  };
  /** Moves the focus, unless it is in another table. */
  const go = (step: number) => () => {
    const at = current();
    const focused = document.activeElement?.closest("table");
    if (at === -1 && focused && focused !== body.current?.parentElement) return false;
    const next = at === -1 ? 0 : Math.min(Math.max(at + step, 0), rows.length - 1);
    linkOf(body.current, next)?.focus();
    if (peek?.key !== undefined && rows[next]) peek.open(keyOf(rows[next]));
    return true;
  };
  const withCurrent = (act: (index: number) => unknown) => () => {
    const at = current();
    return at === -1 ? false : act(at);
  };
  const open = withCurrent((at) => {
    if (peek === undefined) linkOf(body.current, at)?.click();
    else if (peek.key === keyOf(rows[at]!)) peek.close();
    else peek.open(keyOf(rows[at]!));
  });
  const actKeys = Object.entries(rowKeys).map(([key, act]) => [key, () => act(rows[current()])] as const);
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

/** A heading that sets the list's order. A second press reverses the order, a third one restores the usual order. */
function OrderLink(props: {
  readonly header: string;
  readonly orders: readonly [string, string];
  readonly order: Order;
}) {
  const { header, orders, order } = props;
  const { pathname, query } = useLocation();
  const isReversed = order.by === orders[1] && !orders.includes(order.usual);
  const next = order.by === orders[0] ? orders[1] : isReversed ? order.usual : orders[0];
  const changes = { ...FIRST_PAGE, [ORDER_BY]: next === order.usual ? undefined : next };
  const sign = order.by.endsWith(" desc") ? "↓" : "↑";
  return (
    <a href={withQuery(pathname, { ...Object.fromEntries(query), ...changes })}>
      {header} <span aria-hidden="true">{orders.includes(order.by) && sign}</span>
    </a>
  );
}

function classOf<T>({ align, clips, spare }: Column<T>): string {
  const names = [align, clips && "clips", clips === "wide" && clips, spare && "spare", spare !== true && spare];
  return names.filter(Boolean).join(" ");
}

function Cell<T>(props: {
  readonly column: Column<T>;
  readonly row: T;
  readonly isLead: boolean;
  /** The row's URL, if this cell contains the row's link. */
  readonly href: string | undefined;
  readonly open: (event: MouseEvent) => void;
}) {
  const { header, cell, selfEvident } = props.column;
  const content = cell(props.row);
  return (
    <td
      role="cell"
      class={`${classOf(props.column)} ${props.isLead ? "lead" : ""}`}
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

/** Returns a function that toggles a row, or all rows from the last toggled one if that is still shown. */
function useSelect<T>({ rows, keyOf = idOf, selection }: TableProps<T>) {
  const last = useRef<string>(undefined);
  return (index: number, toRange: boolean) => {
    const row = rows[index]!;
    const isSelected = !selection!.has(row);
    // Find the last row by key, because new rows may have moved it.
    const before = toRange ? rows.findIndex((it) => keyOf(it) === last.current) : -1;
    const start = before === -1 ? index : before;
    last.current = keyOf(row);
    selection!.change(rows.slice(Math.min(start, index), Math.max(start, index) + 1), isSelected);
  };
}

/** Selects or deselects all rows that are shown. */
function AllBox<T>(props: { readonly rows: readonly T[]; readonly selection: Selection<T>; readonly label: string }) {
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

/** Returns the index of the row that contains the focus, or -1. */
function focusedRow(body: Body | null): number {
  return rowsIn(body).findIndex((row) => row.contains(document.activeElement));
}

function linkOf(body: Body | null, index: number) {
  return rowsIn(body)[index]?.querySelector<HTMLElement>(".row-link");
}

/** Returns the rows without headings of groups. */
function rowsIn(body: Body | null): readonly HTMLElement[] {
  return [...(body?.querySelectorAll<HTMLElement>("tr:not(.group)") ?? [])];
}

/** Loads the list page that the URL selects, for a `<ListView>`. */
export function useList<I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  request: MessageInitShape<I>,
  pageSize = 50,
) {
  const pageToken = usePageToken();
  return useRpc(method, { ...request, pageToken, pageSize });
}

/** A list: a table with a pager, or an empty state. `opened` defines the view beside the list. */
export function ListView<T>(
  props: Omit<TableProps<T>, "rows" | "peek"> & {
    readonly query: Query<{ readonly data: readonly T[]; readonly nextPageToken?: string }>;
    readonly empty?: ComponentChildren;
    readonly opened?: {
      readonly hrefOf: (key: string) => string;
      readonly view: (key: string) => ComponentChildren;
    };
    /**
     * Contents beside the rows and above the open row, such as a map. Lists without contents yet pass `undefined`, so
     * that the table keeps its node when they appear.
     */
    readonly beside?: ((rows: readonly T[], peek: Peek | undefined) => ComponentChildren) | undefined;
    readonly children?: ComponentChildren;
  },
) {
  const { query, empty, opened, beside, children, ...table } = props;
  const room = usePeek();
  const peek = opened && room;
  const list = (
    <QueryView query={query}>
      {({ data, nextPageToken }) =>
        data.length === 0 ? (
          empty
        ) : (
          <>
            {children}
            <Table {...table} peek={peek} rows={data} />
            {nextPageToken !== undefined && <Pager nextPageToken={nextPageToken} isOutdated={query.isOutdated} />}
          </>
        )
      }
    </QueryView>
  );
  if (opened === undefined && !("beside" in props)) return list;
  const rows = query.data?.data ?? [];
  const view = opened && peek && (
    <PeekView peek={peek} href={opened.hrefOf}>
      {opened.view}
    </PeekView>
  );
  // Reserve the space while the rows load.
  const isBeside = beside !== undefined && (query.data === undefined || rows.length > 0);
  return (
    <div class={isBeside || peek?.key !== undefined ? "peeking" : ""}>
      {/* The key changes once, when the first rows have loaded. Later loads keep the node and its focus. */}
      <div key={query.data === undefined ? "loading" : "loaded"} class="list">
        {list}
      </div>
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
