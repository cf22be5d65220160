import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { useKeys } from "./use-keys.ts";
import "./table.css";

export interface Column<T> {
  readonly header: string;
  readonly cell: (row: T) => ComponentChildren;
  /** Amounts and counts stand at the end, so that their digits are below each other. */
  readonly align?: "end";
  /** Whether a value says by itself what it is; then it stands without its heading on narrow screens. */
  readonly selfEvident?: boolean;
}

export interface TableProps<T> {
  /** What the rows are, for screen readers. */
  readonly label: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly keyOf: (row: T) => string;
  readonly href?: (row: T) => string;
}

/**
 * Rows under a heading each. Where `href` is given, a row leads there: its first cell is a link that
 * covers the row, and `j`, `k` and the arrow keys go from row to row, Enter opens one. On a narrow
 * screen each row becomes a block, with the headings beside the values that need them.
 */
export function Table<T>(props: TableProps<T>) {
  const { columns, href } = props;
  const body = useRef<HTMLTableSectionElement>(null);
  const go = (step: number) => focusRow(body.current, step);
  useKeys(
    href ? { j: () => go(1), k: () => go(-1), ArrowDown: () => go(1), ArrowUp: () => go(-1) } : {},
  );
  // With `display` changed for narrow screens, browsers forget the roles of a table's elements.
  return (
    <table class="table" role="table" tabIndex={-1} aria-label={props.label}>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map(({ header, align }) => (
            <th key={header} role="columnheader" scope="col" class={align}>
              {header}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup" ref={body}>
        {props.rows.map((row) => (
          <tr key={props.keyOf(row)} role="row" class={href && "leads"}>
            {columns.map(({ header, align, cell, selfEvident }, i) => (
              <td
                key={header}
                role="cell"
                class={align}
                data-label={selfEvident ? undefined : header}
              >
                {href && i === 0 ? (
                  <a class="row-link" href={href(row)}>
                    {cell(row)}
                  </a>
                ) : (
                  cell(row)
                )}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Moves the focus to the row so many steps on, from none to the first. */
function focusRow(body: HTMLElement | null, step: number): void {
  const links = [...(body?.querySelectorAll<HTMLElement>(".row-link") ?? [])];
  const at = links.findIndex((link) => link === document.activeElement);
  const next = at === -1 ? 0 : Math.min(Math.max(at + step, 0), links.length - 1);
  links[next]?.focus();
}
