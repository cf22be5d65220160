/** A part of an excerpt, which may be what was searched for. */
export interface Piece {
  readonly text: string;
  readonly isMatch: boolean;
}

/** How many characters are shown before the first match, and in all. */
const BEFORE = 50;
const LENGTH = 170;

/**
 * The part of a text around the first of the words, with all of them marked.
 *
 * @param words of letters and digits alone
 */
export function excerptOf(text: string, words: readonly string[]): Piece[] {
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(${words.join("|")})`, "giu");
  const first = words.length === 0 ? -1 : text.search(pattern);
  const start = first <= BEFORE ? 0 : text.indexOf(" ", first - BEFORE) + 1;
  const end = text.length <= start + LENGTH ? text.length : text.lastIndexOf(" ", start + LENGTH);
  const shown = `${start > 0 ? "… " : ""}${text.slice(start, end)}${end < text.length ? " …" : ""}`;
  if (first === -1) return [{ text: shown, isMatch: false }];
  // Of what is split by a group, every other piece is the group's.
  return shown.split(pattern).map((piece, at) => ({ text: piece, isMatch: at % 2 === 1 }));
}
