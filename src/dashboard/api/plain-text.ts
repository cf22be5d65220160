/** What fields are called on the page, by their names in requests. */
export type Labels = ReadonlyMap<string, string>;

/**
 * A refusal's text about a field, as the page calls it: `customer_name is required.` becomes
 * `Name is required.` Only names of fields are replaced, never what somebody typed.
 *
 * @param name of the field in the request, perhaps with a part of it, as in `metadata["gate"]`
 */
export function plainText(text: string, name: string, labels: Labels = new Map()): string {
  const begins = text.startsWith(`${name} `);
  let said = begins ? `${titleOf(name, labels)}${text.slice(name.length)}` : text;
  // Others in the same message, such as the same tier, are named without what leads there.
  const path = name.replace(/[^.]*$/, "");
  for (const [other, label] of [...labels, [name, wordsOf(name)] as const]) {
    const last = other.slice(path.length);
    if (other.startsWith(path) && last.includes("_")) {
      said = said.replaceAll(wordOf(last), `“${label}”`);
    }
  }
  return said;
}

/** The field that a refusal is about: the whole list or map for an element of one. */
export function fieldOf(name: string, labels: Labels): string | undefined {
  return [name, name.replace(/[.[].*$/, "")].find((it) => labels.has(it));
}

/** What a field is called at the beginning of a sentence, with the key of an element of it. */
function titleOf(name: string, labels: Labels): string {
  const field = fieldOf(name, labels);
  const words = wordsOf(name);
  if (field === undefined) return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
  const key = /\["?(.*?)"?\]$/s.exec(name.slice(field.length))?.[1];
  return key === undefined ? labels.get(field)! : `${labels.get(field)!} “${key}”`;
}

function wordsOf(name: string): string {
  return name.replaceAll("_", " ");
}

/** A name as a word of its own, not within an address or another name. */
function wordOf(name: string): RegExp {
  const escaped = name.replace(/[^\w]/g, "\\$&");
  return new RegExp(`(?<![\\w.@:/“-])${escaped}(?![\\w@:/”-])`, "g");
}
