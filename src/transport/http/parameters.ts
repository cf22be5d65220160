import { ScalarType, type DescField, type DescMessage } from "@bufbuild/protobuf";

/** The number grammar of RFC 8259, section 6. */
const JSON_NUMBER = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$/;

/** Gives parameters, names and texts, as the JSON object that says the same. */
export type DecodeParameters = (
  parameters: Iterable<readonly [string, string]>,
) => Record<string, unknown>;

/**
 * Compiles, for one kind of request, how path and query parameters become JSON: text that reads as
 * the field's type becomes a value of that type, repeated parameters become a list, and anything
 * else stays text, for the JSON decoder to refuse in its own words. Unknown parameters are ignored.
 */
export function compileDecodeParameters(schema: DescMessage): DecodeParameters {
  const fields = new Map(schema.fields.map((field) => [field.name, field]));
  return (parameters) => {
    const json: Record<string, unknown> = {};
    for (const [name, text] of parameters) {
      const field = fields.get(name);
      if (field === undefined) continue;
      const value = readText(field, text);
      if (field.fieldKind !== "list") json[name] = value;
      else if (Array.isArray(json[name])) json[name].push(value);
      else json[name] = [value];
    }
    return json;
  };
}

function readText(field: DescField, text: string): unknown {
  switch (field.scalar) {
    case undefined:
    case ScalarType.STRING:
    case ScalarType.BYTES:
      return text;
    case ScalarType.BOOL:
      return text === "true" ? true : text === "false" ? false : text;
    default:
      return JSON_NUMBER.test(text) ? Number(text) : text;
  }
}
