import type { DescMessage, MessageInitShape } from "@bufbuild/protobuf";
import { requestOf } from "./form-data.ts";

/**
 * Reads an update like `requestOf`. Fields with the same value as in the record are `undefined`, so that the update
 * keeps changes that other people have made to them since the record was loaded.
 *
 * @param values values that the form's fields do not contain, such as unchecked boxes
 */
export function changesOf<I extends DescMessage>(
  update: I,
  form: FormData,
  record: object,
  values: object = {},
): MessageInitShape<I> {
  const before = record as Readonly<Record<string, unknown>>;
  const after: Readonly<Record<string, unknown>> = { ...requestOf(update, form), ...values };
  const changes = Object.entries(after).map(([name, value]) => {
    return [name, JSON.stringify(value) === JSON.stringify(before[name] ?? "") ? undefined : value];
  });
  return Object.fromEntries(changes) as MessageInitShape<I>;
}
