/** What stands between words: whitespace, and ASCII that is no letter or digit. All else is of words. */
const BETWEEN = String.raw`[\s!-/:-@[-\x60{-~]+`;

/** How many rows with the same words are looked at, so that a search of frequent ones ends. */
export const MOST_FOUND = 10_000;

/**
 * SQL for the words of texts, in lower case, as a tsvector: an index of it finds a row by how any of its words begin.
 * Each has the row's workspace before it, so that one index of all workspaces is searched in one alone.
 *
 * @param texts expressions over columns; null is empty. Of each at most 500 characters in a row may be one word
 */
export function wordsOf(texts: readonly string[]): string {
  const text = texts.map((one) => `coalesce(${one}, '')`).join(" || ' ' || ");
  const workspace = "workspace_id::text || '/'";
  return `array_to_tsvector(string_to_array(${workspace} || regexp_replace(lower(${text}), '${BETWEEN}', ' ' || ${workspace}, 'g'), ' '))`;
}

/**
 * SQL for the condition that words of a workspace are those of a text, of which the last may go on.
 *
 * @param words as `wordsOf` gives them
 * @param workspace the parameter with its id
 * @param text the parameter with the text
 */
export function hasWords(words: string, workspace: string, text: string): string {
  const first = `'''' || ${workspace}::bigint::text || '/'`;
  const found = `btrim(regexp_replace(lower(${text}), '${BETWEEN}', ' ', 'g'))`;
  // Without words the empty query is left, which nothing matches.
  return `${words} @@ coalesce(${first} || replace(nullif(${found}, ''), ' ', ''' & ' || ${first}) || ''':*', '')::tsquery`;
}
