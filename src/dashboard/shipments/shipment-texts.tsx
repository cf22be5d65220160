import type { DescField, DescMessage } from "@bufbuild/protobuf";
import type { Shipment } from "../../../gen/shipments/v1/shipment_pb.js";
import type { CreateShipmentRequest } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { DropoffVerification } from "../../../gen/shipments/v1/courier_pb.js";
import { TextField, Field } from "../ui/fields.tsx";
import { textOf } from "../ui/form-data.ts";
import { useRef, useState } from "preact/hooks";
import { Button, IconButton } from "../ui/button.tsx";
import { VerificationField, verificationOf } from "./verification-field.tsx";
import { Fold } from "../ui/fold.tsx";
import { useRestoredRows } from "../ui/form.tsx";

type Optional<M> = {
  [Name in keyof M]-?: undefined extends M[Name] ? (M[Name] extends string | undefined ? Name : never) : never;
}[keyof M];

type TextName = Exclude<Optional<Shipment> & Optional<CreateShipmentRequest>, "quoteId">;

/** Labels and hints of a shipment's text fields, for forms and the shipment's page. */
const TEXTS: Readonly<Record<TextName, { readonly label: string; readonly hint?: string }>> = {
  externalReference: {
    label: "External reference",
    hint: "Your own number, such as an order number. Must be unique.",
  },
  recipientName: { label: "Recipient", hint: "If different from the customer" },
  recipientPhone: {
    label: "Recipient’s phone",
    hint: "With country code, such as +12125550123",
  },
  recipientEmail: { label: "Recipient’s email" },
  recipientLocale: { label: "Recipient’s language", hint: "Such as en, es, fr or de" },
};

const isText = ({ localName }: DescField) => localName in TEXTS;

/** Rarely used fields: the request's texts, and notes. */
export function RecordFields(props: { readonly request: DescMessage; readonly from?: Shipment }) {
  const { request, from } = props;
  const fields = request.fields.filter(isText);
  const isOpen =
    from &&
    (from.dropoffVerification !== DropoffVerification.NONE ||
      fields.some(({ localName }) => from[localName as TextName]));
  const isRestored = useRestoredRows(/^note_name$/) > 0;
  return (
    <Fold
      summary="Recipient, proof, reference and notes (optional)"
      names={new RegExp(`^(${fields.map(({ name }) => name).join("|")}|dropoff_verification|metadata)`)}
      isOpen={isRestored || isOpen || Object.keys(from?.metadata ?? {}).length > 0}
    >
      {fields.map(({ name, localName }) => {
        const text = localName as TextName;
        return <TextField key={name} name={name} value={from?.[text]} optional {...TEXTS[text]} />;
      })}
      <VerificationField from={from} />
      <MetadataFields notes={from?.metadata} />
    </Fold>
  );
}

/** Returns the contents of `RecordFields`, except the notes. */
export function recordOf(request: DescMessage, form: FormData) {
  const fields = request.fields.filter(isText);
  const texts = fields.map(({ name, localName }) => [localName, textOf(form, name)]);
  return {
    ...(Object.fromEntries(texts) as Partial<Record<TextName, string>>),
    dropoffVerification: verificationOf(form),
  };
}

export function shipmentTextItems(shipment: Shipment) {
  return Object.entries(TEXTS).map(([name, { label }]) => [label, shipment[name as TextName]] as const);
}

/** A note as typed. The key identifies its row. */
interface Row {
  readonly key: number;
  readonly name: string;
  readonly value: string;
}

const MAX_ENTRIES = 20;

/** Rows for a shipment's notes. Read them with `metadataOf`. */
function MetadataFields(props: { readonly notes: Readonly<Record<string, string>> | undefined }) {
  const last = useRef(0);
  const rowOf = ([name, value]: readonly [string, string]): Row => ({
    key: ++last.current,
    name,
    value,
  });
  const restoredRows = useRestoredRows(/^note_name$/);
  const [rows, setRows] = useState(() => {
    const notes = Object.entries(props.notes ?? {});
    const more = Array.from({ length: Math.max(restoredRows - notes.length, 0) }, () => ["", ""] as const);
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
          {rows.length < MAX_ENTRIES && <Button onClick={() => setRows([...rows, rowOf(["", ""])])}>Add a note</Button>}
        </div>
      )}
    </Field>
  );
}

/** Returns the typed notes. Empty rows are omitted. */
export function metadataOf(form: FormData): Record<string, string> {
  const names = textsOf(form, "note_name");
  const values = textsOf(form, "note_value");
  const entries = names.map((name, i) => [name, values[i]!] as const);
  return Object.fromEntries(entries.filter(([name, value]) => name !== "" || value !== ""));
}

function textsOf(form: FormData, name: string): readonly string[] {
  return form.getAll(name).map((value) => (typeof value === "string" ? value.trim() : ""));
}
