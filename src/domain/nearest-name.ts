/** Maximum length of names that are compared, in characters. */
export const MAX_CHARACTERS = 200;

/**
 * Returns the element of `names` of which `name` is probably a misspelling. It may differ in case and separators, and
 * by one typo, or by two if it has at least eight characters. Two typos that form another word do not match. Returns
 * `undefined` if no name matches or the best match is ambiguous.
 */
export function nearestName(name: string, names: Iterable<string>): string | undefined {
  if (name.length > MAX_CHARACTERS) return undefined;
  const target = plain(name);
  let nearest: string[] = [];
  let fewest = target.length < 4 ? 0 : target.length < 8 ? 1 : 2;
  for (const candidate of new Set(names)) {
    const errors = typingErrors(target, plain(candidate), fewest);
    if (errors < fewest) nearest = [];
    if (errors <= fewest) nearest.push(candidate);
    fewest = Math.min(fewest, errors);
  }
  const [only, another] = nearest;
  if (only === undefined || another !== undefined) return undefined;
  return fewest > 1 && isAnotherWord(name, only) ? undefined : only;
}

/**
 * Whether the names differ only in one short word that begins with another letter. For example,
 * `OPERATIONS_HOST` is not a misspelling of `OPERATIONS_PORT`.
 */
function isAnotherWord(a: string, b: string): boolean {
  const [words, others] = [wordsOf(a), wordsOf(b)];
  const [at, more] = words.flatMap((word, i) => (word === others[i] ? [] : [i]));
  if (words.length !== others.length || at === undefined || more !== undefined) return false;
  return words[at]!.length < 8 && words[at]![0] !== others[at]![0];
}

/**
 * Like `nearestName`. If no name matches, returns the only name that contains all words of `name`, or the only name
 * whose words are all in `name`: `weight` matches `weight_kg`, and `pickupLongitude` matches `pickup_lng`.
 */
export function nearestByWords(name: string, names: readonly string[]): string | undefined {
  const nearest = nearestName(name, names);
  if (nearest !== undefined || name.length > MAX_CHARACTERS) return nearest;
  const target = wordsOf(name);
  const alike = names.filter((it) => it.length <= MAX_CHARACTERS && haveWords(target, wordsOf(it)));
  return alike.length === 1 ? alike[0] : undefined;
}

/**
 * Returns the only name that contains all words of `name`, in order: `SHUTDOWN_DELAY` matches
 * `SHUTDOWN_DELAY_SECONDS`. Returns `undefined` for a single word, which is too ambiguous.
 */
export function onlyCompletion(name: string, names: readonly string[]): string | undefined {
  const words = wordsOf(name);
  if (words.length < 2) return undefined;
  const [only, another] = names.filter((it) => hasInOrder(wordsOf(it), words));
  return another === undefined ? only : undefined;
}

function hasInOrder(all: readonly string[], words: readonly string[]): boolean {
  let found = 0;
  for (const word of all) if (word === words[found]) found++;
  return found === words.length && all.length > words.length;
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[_.\s-]/g, "");
}

/**
 * Returns the optimal string alignment distance, that is, the number of inserted, deleted, replaced
 * and transposed characters. Exact up to `most`, otherwise any larger number. Takes linear time.
 */
function typingErrors(a: string, b: string, max: number): number {
  if (Math.abs(a.length - b.length) > max) return Infinity;
  const rows = [0, 1, 2].map(() => Array.from({ length: b.length + 2 }, () => Infinity));
  for (let j = 0; j <= max; j++) rows[0]![j] = j;
  for (let i = 1; i <= a.length; i++) {
    const [before, above, row] = [rows[(i + 1) % 3]!, rows[(i + 2) % 3]!, rows[i % 3]!];
    // Cells farther from the diagonal exceed `most`.
    const first = Math.max(1, i - max);
    row[first - 1] = first === 1 ? i : Infinity;
    let fewest = row[first - 1]!;
    for (let j = first; j <= Math.min(b.length, i + max); j++) {
      const wrong = a[i - 1] === b[j - 1] ? 0 : 1;
      let errors = Math.min(above[j]! + 1, row[j - 1]! + 1, above[j - 1]! + wrong);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        errors = Math.min(errors, before[j - 2]! + 1);
      }
      row[j] = errors;
      fewest = Math.min(fewest, errors);
    }
    if (fewest > max) return Infinity;
  }
  return rows[a.length % 3]![b.length]!;
}

/** Returns the lower-case words of `snake_case`, `kebab-case` and `camelCase` names. */
function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .split(/[_.\s-]+/)
    .filter((word) => word !== "");
}

/** Whether one list contains all words of the other in order. Words may be abbreviated. */
function haveWords(a: readonly string[], b: readonly string[]): boolean {
  const [fewer, more] = a.length <= b.length ? [a, b] : [b, a];
  if (fewer.length === 0) return false;
  let found = 0;
  for (const word of more) if (isSameWord(word, fewer[found])) found++;
  return found === fewer.length;
}

/** Whether the words are equal or one abbreviates the other, such as `lng` for `longitude`. */
function isSameWord(a: string, b = ""): boolean {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  if (short.length < 2 || short[0] !== long[0]) return short !== "" && short === long;
  let at = 0;
  for (const character of long) if (character === short[at]) at++;
  return at === short.length;
}
