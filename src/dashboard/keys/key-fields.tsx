import { ApiKeyScope, type ApiKey } from "../../../gen/shipments/v1/api_key_pb.js";
import { numberOf, SelectField, TextField, textOf } from "../ui/fields.tsx";

const SCOPES = [
  [String(ApiKeyScope.FULL), "Everything"],
  [String(ApiKeyScope.READ_ONLY), "Read and quote only"],
] as const;

/** What a key of a workspace is for, and what it may be used for: the fields `name` and `scope`. */
export function KeyFields({ apiKey }: { readonly apiKey?: ApiKey }) {
  const hint = "The program that it is for, such as “Web shop”.";
  return (
    <>
      <TextField name="name" label="Name" value={apiKey?.name} hint={hint} />
      <SelectField name="scope" label="It may" value={apiKey?.scope} choices={SCOPES} />
    </>
  );
}

/** What the fields say. */
export function keyFieldsIn(form: FormData): {
  readonly name: string;
  readonly scope: ApiKeyScope | undefined;
} {
  return { name: textOf(form, "name"), scope: numberOf(form, "scope") };
}
