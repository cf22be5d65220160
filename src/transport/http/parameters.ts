import { ScalarType, type DescField } from "@bufbuild/protobuf";
import { shownName } from "../../domain/clip.ts";
import { fieldViolation, type Violation } from "../../domain/refusal.ts";

/** Matches a number as in RFC 8259, section 6. */
const JSON_NUMBER = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$/;

/**
 * Converts parameters to a JSON object.
 *
 * @param refused receives a violation for each unknown parameter, and for each repeated parameter whose
 *   field is not repeated
 */
export type DecodeParameters = (
  parameters: Iterable<readonly [string, string]>,
  refused: Violation[],
) => Record<string, unknown>;

/** Maximum number of refused parameters that are reported. */
const MAX_REFUSED = 20;

/**
 * Compiles the conversion of path or query parameters to JSON. Text that can be parsed as the field's type becomes a
 * value of that type. Repeated parameters become a list. Other text stays text, which the JSON decoder refuses.
 *
 * @param bound names of path parameters. They are accepted and ignored in the query.
 */
export function compileDecodeParameters(
  declared: readonly DescField[],
  bound: ReadonlySet<string> = new Set(),
): DecodeParameters {
  const fields = new Map(declared.map((field) => [field.name, field]));
  const known = [...fields.keys()].filter((name) => !bound.has(name)).join(", ") || "none";
  return (parameters, refused) => {
    const json: Record<string, unknown> = {};
    const twice = new Set<string>();
    for (const [name, text] of parameters) {
      const field = fields.get(name);
      if (field === undefined) {
        if (refused.length < MAX_REFUSED) refused.push(unknownParameter(name, known));
        continue;
      }
      const value = readText(field, text);
      if (field.fieldKind !== "list") {
        if (Object.hasOwn(json, name)) twice.add(name);
        json[name] = value;
      } else if (Array.isArray(json[name])) json[name].push(value);
      else json[name] = [value];
    }
    for (const name of twice) refused.push(fieldViolation(name, "must be given only once."));
    return json;
  };
}

function unknownParameter(name: string, known: string): Violation {
  const subject = shownName(name);
  return fieldViolation(subject, `is not a query parameter of this call, which takes ${known}.`);
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
