/** A text's first `characters` code points, with an ellipsis where that is not all of it. */
export function clip(text: string, characters: number): string {
  // A code point has one or two units: so many units hold at least as many of them as are wanted.
  const first = Array.from(text.slice(0, 2 * characters))
    .slice(0, characters)
    .join("");
  return first.length === text.length ? text : `${first}…`;
}
