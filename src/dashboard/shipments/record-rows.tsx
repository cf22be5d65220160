import { useRef, useState } from "preact/hooks";
import type { Shipment } from "../../../gen/shipments/v1/shipment_pb.js";
import { Button, IconButton } from "../ui/button.tsx";
import { Field } from "../ui/fields.tsx";
import { useRestoredRows } from "../ui/form.tsx";
import { numberFrom } from "../ui/format.ts";

/** An input of each row. */
interface Column {
  readonly name: string;
  readonly label: string;
  /** Text of a new row. */
  readonly value?: string;
  readonly numeric?: boolean;
}

/** Texts of a row by column. The key identifies the row. */
interface Row {
  readonly key: number;
  readonly texts: readonly string[];
}

interface RowsProps {
  /** Name of the request field. */
  readonly name: string;
  readonly label: string;
  /** Name of one row. */
  readonly what: string;
  readonly columns: readonly Column[];
  /** Initial rows. */
  readonly rows: readonly (readonly string[])[];
  readonly max: number;
}

function Rows({ name, label, what, columns, rows: initial, max }: RowsProps) {
  const last = useRef(0);
  const rowOf = (texts: readonly string[]): Row => ({ key: ++last.current, texts });
  const empty = columns.map(({ value = "" }) => value);
  const restored = useRestoredRows(new RegExp(`^${columns[0]!.name}$`));
  const [rows, setRows] = useState(() => {
    const more = Array.from({ length: Math.max(restored - initial.length, 0) }, () => empty);
    return [...initial, ...more].map(rowOf);
  });
  return (
    <Field name={name} label={label} optional>
      {({ id, "aria-describedby": describedBy }) => (
        <div id={id} class="rows-of-inputs" role="group" aria-label={label} aria-describedby={describedBy}>
          {rows.map(({ key, texts }, i) => (
            <div key={key} class={`${what}-row`}>
              {columns.map((column, j) => (
                <input
                  key={column.name}
                  name={column.name}
                  aria-label={`${column.label} of ${what} ${i + 1}`}
                  inputMode={column.numeric ? "numeric" : undefined}
                  defaultValue={texts[j]}
                  placeholder={column.label}
                  autoComplete="off"
                />
              ))}
              <IconButton
                quiet
                sign="×"
                label={`Remove ${what} ${i + 1}`}
                onClick={() => setRows(rows.filter((row) => row.key !== key))}
              />
            </div>
          ))}
          {rows.length < max && <Button onClick={() => setRows([...rows, rowOf(empty)])}>Add {what}</Button>}
        </div>
      )}
    </Field>
  );
}

/** Returns the texts of the rows in a form by column. */
function rowsOf(form: FormData, columns: readonly Column[]): string[][] {
  const texts = columns.map(({ name }) =>
    form.getAll(name).map((text) => (typeof text === "string" ? text.trim() : "")),
  );
  return texts[0]!.map((_, i) => texts.map((of) => of[i]!));
}

const NOTE = [
  { name: "note_name", label: "Name" },
  { name: "note_value", label: "Text" },
];

/** Rows for a shipment's notes. Read them with `metadataOf`. */
export function MetadataFields({ from }: { readonly from: Shipment | undefined }) {
  const rows = Object.entries(from?.metadata ?? {});
  return <Rows name="metadata" label="Notes" what="note" columns={NOTE} rows={rows} max={20} />;
}

/** Returns the typed notes. Empty rows are omitted. */
export function metadataOf(form: FormData): Record<string, string> {
  const rows = rowsOf(form, NOTE).map(([name = "", value = ""]) => [name, value] as const);
  return Object.fromEntries(rows.filter(([name, value]) => name !== "" || value !== ""));
}

const ITEM = [
  { name: "item_name", label: "Name" },
  { name: "item_quantity", label: "Quantity", value: "1", numeric: true },
  { name: "item_id", label: "Your id" },
];

/** Rows for a shipment's items. Read them with `itemsOf`. */
export function ItemFields({ from }: { readonly from: Shipment | undefined }) {
  const rows = (from?.items ?? []).map(({ name, quantity, externalId = "" }) => [name, String(quantity), externalId]);
  return <Rows name="items" label="Items" what="item" columns={ITEM} rows={rows} max={50} />;
}

/** Returns the typed items. Rows without a name and id are omitted. The service refuses the quantity 0. */
export function itemsOf(form: FormData) {
  return rowsOf(form, ITEM)
    .map(([name = "", quantity = "", externalId = ""]) => {
      const number = numberFrom(quantity) ?? 0;
      return { name, quantity: Number.isInteger(number) && Math.abs(number) < 2 ** 31 ? number : 0, externalId };
    })
    .filter(({ name, externalId }) => name !== "" || externalId !== "");
}
