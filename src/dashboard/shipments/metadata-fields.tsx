import { useRef, useState } from "preact/hooks";
import { Button, IconButton } from "../ui/button.tsx";
import { Field } from "../ui/fields.tsx";
import { useKeptRows } from "../ui/form.tsx";

/** A note as it is typed; the key tells rows apart. */
interface Row {
  readonly key: number;
  readonly name: string;
  readonly value: string;
}

const MOST = 20;

/** Rows for the notes of a shipment, to be read by `metadataOf`. */
export function MetadataFields(props: { readonly notes?: Readonly<Record<string, string>> }) {
  const last = useRef(0);
  const rowOf = ([name, value]: readonly [string, string]): Row => ({
    key: ++last.current,
    name,
    value,
  });
  const kept = useKeptRows(/^note_name$/);
  const [rows, setRows] = useState(() => {
    const notes = Object.entries(props.notes ?? {});
    const more = Array.from({ length: Math.max(kept - notes.length, 0) }, () => ["", ""] as const);
    return [...notes, ...more].map(rowOf);
  });
  return (
    <Field name="metadata" label="Notes" optional>
      {({ id, "aria-describedby": describedBy }) => (
        <div id={id} class="notes" role="group" aria-label="Notes" aria-describedby={describedBy}>
          {rows.map(({ key, name, value }, i) => (
            <div key={key} class="note-row">
              <input
                name="note_name"
                aria-label={`Name of note ${i + 1}`}
                defaultValue={name}
                placeholder="Name"
                autoComplete="off"
              />
              <input
                name="note_value"
                aria-label={`Text of note ${i + 1}`}
                defaultValue={value}
                placeholder="Text"
                autoComplete="off"
              />
              <IconButton
                quiet
                sign="×"
                label={`Remove note ${i + 1}`}
                onClick={() => setRows(rows.filter((row) => row.key !== key))}
              />
            </div>
          ))}
          {rows.length < MOST && (
            <Button onClick={() => setRows([...rows, rowOf(["", ""])])}>Add a note</Button>
          )}
        </div>
      )}
    </Field>
  );
}

/** The notes that were typed; rows without a name and a text are left out. */
export function metadataOf(form: FormData): Record<string, string> {
  const names = textsOf(form, "note_name");
  const values = textsOf(form, "note_value");
  const given = names.map((name, i) => [name, values[i]!] as const);
  return Object.fromEntries(given.filter(([name, value]) => name !== "" || value !== ""));
}

function textsOf(form: FormData, name: string): readonly string[] {
  return form.getAll(name).map((value) => (typeof value === "string" ? value.trim() : ""));
}
