/** A text's first `characters` code points, with an ellipsis where that is not all of it. */
export function clip(text: string, characters: number): string {
  // A code point has one or two units: so many units hold at least as many of them as are wanted.
  const first = Array.from(text.slice(0, 2 * characters))
    .slice(0, characters)
    .join("");
  return first.length === text.length ? text : `${first}…`;
}

/** Whether a text has at most so many characters, as code points. */
export function hasAtMost(text: string, characters: number): boolean {
  return text.length <= characters || clip(text, characters) === text;
}

/** How much of a key or an unknown name a path shows, in characters; those that are accepted are shorter. */
const SHOWN_CHARACTERS = 100;

/** A map's key as a step of a field's path, as in `metadata["colour"]`: short whatever its size. */
export function mapKey(key: string): string {
  return `[${JSON.stringify(clip(key, SHOWN_CHARACTERS))}]`;
}

/** A name that a caller made up, as a path shows it: never empty, and short whatever its size. */
export function shownName(name: string): string {
  return clip(name, SHOWN_CHARACTERS) || '""';
}
