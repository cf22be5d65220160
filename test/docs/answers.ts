/* Responses in guides, which are JSON with `...` in place of omitted fields and items. */

const ELLIPSIS = "...";

/** Patterns for values that differ between runs, with their placeholders in guides. */
const VARYING: readonly (readonly [RegExp, string])[] = [
  [/\bSHP-[0-9A-Z]{12}\b/g, "SHP-4T8ZK2M0QWXE"],
  [/\bquo_[\w-]{12,}(\.\.\.)?/g, "quo_AAAAB7hQOkHlASpWxZ..."],
  [/\bwh_[0-9a-f]{24}\b/g, "wh_0f4c1a9e7d2b6358c0a1e4f7"],
  [/\bcou_[0-9a-f]{24}\b/g, "cou_..."],
  [/\/c#[\w.-]{40,}/g, "/c#..."],
  [/\bkey_[0-9a-f]{24}\b/g, "key_7b1d9c3e5f2a8046b9d0c1e2"],
  [/\bwhsec_[\w+/=]{20,}/g, "whsec_..."],
  [/\bshp_(test_)?\w{20,}/g, "shp_$1..."],
  [/#token=[\w-]{20,}/g, "#token=..."],
  [/(?<=http:\/\/127\.0\.0\.1:)\d+/g, "3000"],
  [/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, "3f0c1f5e-7a44-4f0b-9b8e-2d6f6c1f0a53"],
  [/\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d/g, "2026-12-04T18:00:00+01:00"],
  [/\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "2026-11-21T09:30:00.000Z"],
];

/** Names of fields whose values mean nothing to readers. Only their types are compared. */
const OPAQUE = /^(id|person|etag|cursor|next_page_token|position|last4|customer_id|workspace_id|pin)$/;

/** Parses a response from a guide. Each `...` becomes a special field or item. */
export function parseAnswer(text: string): unknown {
  const open: string[] = [];
  const json = text.replaceAll(/"(?:\\.|[^"\\])*"|\.\.\.|[[\]{}]/g, (token) => {
    if (token === "[" || token === "{") open.push(token);
    if (token === "]" || token === "}") open.pop();
    if (token !== ELLIPSIS) return token;
    return open.at(-1) === "{" ? '"...": "..."' : '"..."';
  });
  return JSON.parse(json);
}

/**
 * Formats an actual response like the guide's response and omits the same fields. Values that vary between runs, such
 * as ids, are replaced with the guide's values.
 */
export function showAnswer(shown: unknown, answer: unknown, field = ""): unknown {
  if (Array.isArray(shown) && Array.isArray(answer)) return showItems(shown, answer);
  if (isObject(shown) && isObject(answer)) return showFields(shown, answer);
  return formOf(shown, field) === formOf(answer, field) ? shown : withoutVariance(answer);
}

function showItems(shown: readonly unknown[], answer: readonly unknown[]): unknown[] {
  if (shown.at(-1) !== ELLIPSIS) {
    return answer.map((it, index) => showAnswer(shown[index] ?? shown[0], it));
  }
  const items = shown.slice(0, -1);
  return [...items.map((it, index) => showAnswer(it, answer[index])), ELLIPSIS];
}

function showFields(shown: Fields, answer: Fields): Fields {
  const isCut = ELLIPSIS in shown;
  const fields = Object.entries(answer)
    .filter(([name]) => !isCut || name in shown)
    .map(([name, value]) => [name, showAnswer(shown[name], value, name)]);
  return Object.fromEntries(isCut ? [...fields, [ELLIPSIS, ELLIPSIS]] : fields);
}

type Fields = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function formOf(value: unknown, field: string): string {
  if (OPAQUE.test(field)) return typeof withoutVariance(value);
  return JSON.stringify(withoutVariance(value)) ?? "";
}

function withoutVariance(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutVariance);
  if (isObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([k, it]) => [k, withoutVariance(it)]));
  }
  if (typeof value !== "string") return value;
  return VARYING.reduce((text, [pattern, sample]) => text.replaceAll(pattern, sample), value);
}

/** Formats a response in the style of the guides. Below the first level, values that fit are on one line. */
export function formatAnswer(value: unknown, indent = "", name = ""): string {
  const inline = inlined(value);
  const isLeaf = typeof value !== "object" || value === null;
  const isShort = `${indent}"${name}": ${inline},`.length <= 100;
  if (isLeaf || (indent !== "" && isShort)) return inline;
  const deeper = `${indent}  `;
  const [first, last] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  const lines = Array.isArray(value)
    ? value.map((it) => (it === ELLIPSIS ? ELLIPSIS : formatAnswer(it, deeper)))
    : Object.entries(value).map(([name, it]) =>
        name === ELLIPSIS ? ELLIPSIS : `${JSON.stringify(name)}: ${formatAnswer(it, deeper, name)}`,
      );
  if (lines.length === 0) return first + last;
  return `${first}\n${lines.map((it) => deeper + it).join(",\n")}\n${indent}${last}`;
}

function inlined(value: unknown): string {
  if (Array.isArray(value)) {
    return `[${value.map((it) => (it === ELLIPSIS ? ELLIPSIS : inlined(it))).join(", ")}]`;
  }
  if (!isObject(value)) return JSON.stringify(value);
  const fields = Object.entries(value).map(([name, it]) =>
    name === ELLIPSIS ? ELLIPSIS : `${JSON.stringify(name)}: ${inlined(it)}`,
  );
  return fields.length === 0 ? "{}" : `{ ${fields.join(", ")} }`;
}
