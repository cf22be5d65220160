import { isReflectMessage, type ReflectMessage } from "@bufbuild/protobuf/reflect";
import type { Json } from "./options.ts";

/** JSON Schema keywords for rules with a value. */
const KEYWORDS: Readonly<Record<string, string>> = {
  gt: "exclusiveMinimum",
  gte: "minimum",
  in: "enum",
  lt: "exclusiveMaximum",
  lte: "maximum",
  max_items: "maxItems",
  max_len: "maxLength",
  max_pairs: "maxProperties",
  min_items: "minItems",
  min_len: "minLength",
  min_pairs: "minProperties",
  pattern: "pattern",
};
const PARTS: Readonly<Record<string, string>> = {
  items: "items",
  keys: "propertyNames",
  values: "additionalProperties",
};
/** Rules that are already expressed by the JSON dialect or the list of required fields. */
const EXPRESSED_ELSEWHERE = new Set(["defined_only", "finite", "ignore", "not_in", "required"]);

/**
 * Converts the rules of a field to JSON Schema keywords.
 *
 * @throws Error for a rule without a keyword, so that no rule is silently omitted
 */
export function ruleKeywords(rules: ReflectMessage): Json {
  const keywords: Record<string, unknown> = {};
  for (const field of rules.fields.filter((it) => rules.isSet(it))) {
    const value: unknown = rules.get(field);
    const keyword = KEYWORDS[field.name];
    const part = PARTS[field.name];
    if (keyword !== undefined) keywords[keyword] = plain(value);
    else if (field.name === "email") keywords["format"] = "email";
    else if (part !== undefined) keywords[part] = partKeywords(part, value as ReflectMessage);
    else if (isReflectMessage(value)) Object.assign(keywords, ruleKeywords(value));
    else if (!EXPRESSED_ELSEWHERE.has(field.name)) {
      throw new Error(`the rule ${field.toString()} has no form in the OpenAPI document`);
    }
  }
  return keywords;
}

/** Returns the keywords for a part of a rule. Client generators need to see that property names are strings. */
function partKeywords(part: string, rules: ReflectMessage): Json {
  return { ...(part === "propertyNames" ? { type: "string" } : {}), ...ruleKeywords(rules) };
}

function plain(value: unknown): unknown {
  if (typeof value === "bigint") return Number(value);
  return typeof value === "object" ? [...(value as Iterable<unknown>)] : value;
}
