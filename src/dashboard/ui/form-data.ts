import { ScalarType, type DescField, type DescMessage, type MessageInitShape } from "@bufbuild/protobuf";
import { degreesFrom, numberFrom } from "./format.ts";

/**
 * Reads a request from form fields of the same names. Fields of a nested message are named like
 * `quote.rate`. Empty fields are omitted. In updates they are sent as empty texts, which clear the
 * field or are refused. Unchecked boxes are not read.
 */
export function requestOf<I extends DescMessage>(request: I, form: FormData): MessageInitShape<I> {
  return readMessage(request, form, "", request.name.startsWith("Update")) as MessageInitShape<I>;
}

function readMessage(message: DescMessage, form: FormData, path: string, isUpdate: boolean): object {
  const read = (field: DescField): unknown => {
    const name = `${path}${field.name}`;
    if (field.fieldKind === "message") {
      const isThere = [...form.keys()].some((other) => other.startsWith(`${name}.`));
      return isThere ? readMessage(field.message, form, `${name}.`, isUpdate) : undefined;
    }
    if (!form.has(name)) return undefined;
    if (field.fieldKind === "list") return form.getAll(name);
    switch (field.scalar) {
      case ScalarType.STRING:
        return isUpdate ? textOf(form, name) : optionalTextOf(form, name);
      case ScalarType.BOOL:
        return true;
      case ScalarType.INT32:
        return wholeNumberOf(form, name);
      default:
        return /(^|_)(lat|lng)$/.test(field.name) ? degreesFrom(textOf(form, name)) : numberOf(form, name);
    }
  };
  const values = message.fields.map((field) => [field.localName, read(field)] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

/** Returns 0 for an invalid integer, because the service refuses 0. */
function wholeNumberOf(form: FormData, name: string): number | undefined {
  const number = numberOf(form, name);
  if (number === undefined) return undefined;
  return Number.isInteger(number) && Math.abs(number) < 2 ** 31 ? number : 0;
}

export function textOf(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === "string" ? value.trim() : "";
}

export function optionalTextOf(form: FormData, name: string): string | undefined {
  return textOf(form, name) || undefined;
}

/** Parses a field's number, with a point or comma. NaN if invalid, `undefined` if empty. */
export function numberOf(form: FormData, name: string): number | undefined {
  return numberFrom(textOf(form, name));
}
