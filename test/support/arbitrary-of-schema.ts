import fc from "fast-check";
import { DESCRIPTION } from "./api-description.ts";

/** Resolves a reference in the OpenAPI document. */
export function resolved(part: any): any {
  if (part.$ref === undefined) return part;
  const keys: string[] = part.$ref.slice(2).split("/");
  return keys.reduce((found: any, name) => found[name], DESCRIPTION);
}

/** Returns arbitrary values that conform to a request schema, with short lists. */
export function arbitraryOf(schema: any): fc.Arbitrary<any> {
  const it = resolved(schema);
  switch (it.type) {
    case "string":
      return arbitraryText(it);
    case "boolean":
      return fc.boolean();
    case "integer":
      return arbitraryInteger(it);
    case "number":
      return fc.double({
        min: it.minimum ?? -1e6,
        max: it.maximum ?? 1e6,
        noNaN: true,
      });
    case "array":
      return fc.array(arbitraryOf(it.items), { minLength: it.minItems ?? 0, maxLength: 3 });
    case "object":
      return it.properties === undefined ? arbitraryMap(it) : arbitraryObject(it);
    default:
      throw new Error(`unsupported schema: ${JSON.stringify(it)}`);
  }
}

function arbitraryText(schema: any): fc.Arbitrary<string> {
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.format === "email") return fc.emailAddress().map((it) => it.slice(-schema.maxLength));
  if (schema.format === "date-time") {
    const bounds = { min: new Date("0001-01-01T00:00:00Z"), max: new Date("9999-12-31T00:00:00Z") };
    return fc.date({ ...bounds, noInvalidDate: true }).map((it) => it.toISOString());
  }
  const { minLength = 0, maxLength = 50, pattern } = schema;
  if (pattern !== undefined) {
    const fits = ({ length }: string) => length >= minLength && length <= (schema.maxLength ?? length);
    return fc.stringMatching(new RegExp(pattern)).filter(fits);
  }
  return fc.string({ unit: "grapheme-ascii", minLength, maxLength: Math.min(maxLength, 50) });
}

function arbitraryInteger({ format, minimum, maximum }: any): fc.Arbitrary<number> {
  const most = format === "int32" ? 2 ** 31 - 1 : Number.MAX_SAFE_INTEGER;
  return fc.maxSafeInteger().map((it) => {
    const [min, max] = [minimum ?? -most, maximum ?? most];
    return min + (Math.abs(it) % Math.min(max - min + 1, Number.MAX_SAFE_INTEGER));
  });
}

function arbitraryMap({ propertyNames, additionalProperties }: any): fc.Arbitrary<object> {
  const key = arbitraryOf({ type: "string", ...propertyNames });
  return fc.dictionary(key, arbitraryOf(additionalProperties), { maxKeys: 3 });
}

function arbitraryObject({ properties, required = [] }: any): fc.Arbitrary<object> {
  const fields = Object.entries(properties).map(([name, it]) => [name, arbitraryOf(it)]);
  return fc.record(Object.fromEntries(fields), { requiredKeys: required });
}
