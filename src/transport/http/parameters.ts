import { ScalarType, type DescField } from "@bufbuild/protobuf";
import { shownName } from "../../domain/clip.ts";
import type { Violation } from "../../domain/refusal.ts";

/** The number grammar of RFC 8259, section 6. */
const JSON_NUMBER = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$/;

/**
 * Gives parameters, names and texts, as the JSON object that says the same.
 *
 * @param unknown takes the violations of those that there are not
 */
export type DecodeParameters = (
  parameters: Iterable<readonly [string, string]>,
  unknown: Violation[],
) => Record<string, unknown>;

/** How many unknown parameters are named. */
const MAX_UNKNOWN = 20;

/**
 * Compiles how path or query parameters, one for each of these fields, become JSON: text that reads as
 * the field's type becomes a value of that type, repeated parameters become a list, and anything
 * else stays text, for the JSON decoder to refuse in its own words.
 *
 * @param bound the names of those that the path gives: as parameters of the query they are taken, and
 * make no difference, so that nobody is told of them
 */
export function compileDecodeParameters(
  declared: readonly DescField[],
  bound: ReadonlySet<string> = new Set(),
): DecodeParameters {
  const fields = new Map(declared.map((field) => [field.name, field]));
  const known = [...fields.keys()].filter((name) => !bound.has(name)).join(", ") || "none";
  return (parameters, unknown) => {
    const json: Record<string, unknown> = {};
    for (const [name, text] of parameters) {
      const field = fields.get(name);
      if (field === undefined) {
        if (unknown.length < MAX_UNKNOWN) unknown.push(unknownParameter(name, known));
        continue;
      }
      const value = readText(field, text);
      if (field.fieldKind !== "list") json[name] = value;
      else if (Array.isArray(json[name])) json[name].push(value);
      else json[name] = [value];
    }
    return json;
  };
}

function unknownParameter(name: string, known: string): Violation {
  const subject = shownName(name);
  const text = `${subject} is no query parameter of this call; it takes ${known}.`;
  return { reason: "FIELD_INVALID", subject, text };
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
