/** Returns the first `characters` code points of a text, with an ellipsis if it was longer. */
export function clip(text: string, characters: number): string {
  // A code point takes one or two code units, so this slice has at least `characters` code points.
  const first = Array.from(text.slice(0, 2 * characters))
    .slice(0, characters)
    .join("");
  return first.length === text.length ? text : `${first}…`;
}

/** Whether a text has at most this many code points. */
export function hasAtMost(text: string, characters: number): boolean {
  return text.length <= characters || clip(text, characters) === text;
}

/** Maximum length of a key or an unknown name in a path, in characters. Known names are shorter. */
const SHOWN_CHARACTERS = 100;

/** Returns the path step for a map key, as in `metadata["colour"]`. Long keys are shortened. */
export function mapKey(key: string): string {
  return `[${JSON.stringify(clip(key, SHOWN_CHARACTERS))}]`;
}

/** Returns the text that shows a field name from a request in a path. Never empty. Long names are shortened. */
export function shownName(name: string): string {
  return clip(name, SHOWN_CHARACTERS) || '""';
}
