/** Returns the first `characters` code points of a text, with an ellipsis if it was longer. */
export function clip(text: string, characters: number): string {
  // A code point has one or two units, so this many units contain at least `characters` code points.
  const first = Array.from(text.slice(0, 2 * characters))
    .slice(0, characters)
    .join("");
  return first.length === text.length ? text : `${first}…`;
}

/** Whether a text has at most this many code points. */
export function hasAtMost(text: string, characters: number): boolean {
  return text.length <= characters || clip(text, characters) === text;
}

/** Maximum length of a key or unknown name in a path, in characters. Accepted names are shorter. */
const SHOWN_CHARACTERS = 100;

/** Returns a map key as a step of a field's path, as in `metadata["colour"]`, shortened if long. */
export function mapKey(key: string): string {
  return `[${JSON.stringify(clip(key, SHOWN_CHARACTERS))}]`;
}

/** Returns a caller's name for display in a path: never empty, shortened if long. */
export function shownName(name: string): string {
  return clip(name, SHOWN_CHARACTERS) || '""';
}
