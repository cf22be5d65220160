import { clip } from "./clip.ts";

/**
 * Regular expression for word separators: spaces, general punctuation, and ASCII other than letters
 * and digits. Valid in JavaScript and PostgreSQL.
 */
export const SEPARATORS = String.raw`[\x01-/:-@[-\x60{-\x7f\u00a0\u2000-\u206f\u3000]+`;

/**
 * Marks the reversed digits of a phone number in a word index, so that a search for the last digits becomes a prefix
 * search.
 */
export const REVERSED_MARK = "←";

/** Placeholder in `searchQuery` for the prefix of an index's words. No word contains it. */
export const PREFIX_MARK = "/";

/** A term of a search. A row matches if it contains all words of the term, or a phone number with its digits. */
export interface SearchTerm {
  readonly words: readonly string[];
  /** Whether the last word may be incomplete and matches as a prefix. */
  readonly isOpen: boolean;
  /** Possible first or last digits of a phone number. Empty if the term is not a phone number. */
  readonly digits: readonly string[];
}

/** Digits and the characters that format a phone number. */
const NUMBER = /\+?\(?[0-9](?:[0-9\s()./\u2010-\u2015-]*[0-9])?/g;
/** Minimum number of digits for interpreting several groups of digits as one phone number. */
const MIN_PHONE = 7;
/** Minimum number of last digits of a phone number that a search matches. */
const MIN_LAST_DIGITS = 4;

/** Splits a search text in NFC into terms: words, the last of which may be incomplete, and phone numbers. */
export function searchTerms(text: string): readonly SearchTerm[] {
  const terms: SearchTerm[] = [];
  const add = (segment: string, digits: readonly string[]) => {
    const words = wordsIn(segment);
    if (digits.length > 0) terms.push({ words, digits, isOpen: false });
    else for (const word of words) terms.push({ words: [word], digits: lastDigits(word), isOpen: false });
  };
  let end = 0;
  for (const { 0: number, index } of text.matchAll(NUMBER)) {
    const digits = phoneDigits(number);
    if (digits.length === 0 || isWithinWord(text, index, index + number.length)) continue;
    add(text.slice(end, index), []);
    add(number, digits);
    end = index + number.length;
  }
  add(text.slice(end), []);
  const last = terms.pop();
  return last === undefined ? [] : [...terms, { ...last, isOpen: true }];
}

const WORD = new RegExp(SEPARATORS.replace("[", "[^"), "g");

function wordsIn(text: string): string[] {
  return text.match(WORD) ?? [];
}

/** Whether a part of a text is directly preceded or followed by letters or digits. */
function isWithinWord(text: string, start: number, end: number): boolean {
  return /[\p{L}\p{N}]/u.test(text.slice(Math.max(0, start - 1), start) + text.slice(end, end + 1));
}

/**
 * Returns the digits of a phone number as written, and without the leading zeros of a national or
 * international prefix.
 */
function phoneDigits(number: string): string[] {
  const digits = number.replace("(0)", "").replaceAll(/\D/g, "");
  const dialled = digits.replace(/^00?/, "");
  return [...new Set([digits, dialled])].filter((it) => it.length >= MIN_PHONE);
}

function lastDigits(word: string): string[] {
  return word.length >= MIN_LAST_DIGITS && /^[0-9]+$/.test(word) ? [word] : [];
}

/**
 * Returns a tsquery for rows that match all terms. `PREFIX_MARK` is a placeholder for the prefix of the index's words.
 */
export function searchQuery(terms: readonly SearchTerm[]): string {
  return terms.map(termQuery).join(" & ");
}

function termQuery({ words, isOpen, digits }: SearchTerm): string {
  const own = words.map((word, i) => lexeme(word, isOpen && i === words.length - 1)).join(" & ");
  const numbers = digits.flatMap((it) => [lexeme(it, true), lexeme(REVERSED_MARK + reversed(it), true)]);
  // PostgreSQL reads a repeated prefix twice.
  return numbers.length === 0 ? own : `(${[...new Set([own, ...numbers])].join(" | ")})`;
}

function lexeme(word: string, isBegun: boolean): string {
  return `'${PREFIX_MARK}${word}'${isBegun ? ":*" : ""}`;
}

function reversed(digits: string): string {
  return Array.from(digits).toReversed().join("");
}

/** Maximum length of the shown part of a value, and of its part before the match, in characters. */
const SHOWN = { all: 200, before: 60 } as const;

/**
 * Returns the part of a value that shows why a search found it: up to 200 characters around the
 * first match. Returns `undefined` if no term matches.
 */
export function matchedPart(terms: readonly SearchTerm[], value: string): string | undefined {
  const start = terms.some((term) => hasDigits(term, value)) ? 0 : firstMatch(terms, value);
  if (start === undefined) return undefined;
  if (value.length <= SHOWN.all) return value;
  const from = Math.max(0, start - SHOWN.before);
  return clip((from === 0 ? "" : "…") + value.slice(from).replace(/^[\uDC00-\uDFFF]/, ""), SHOWN.all);
}

/** Whether a value is a phone number that begins or ends with the term's digits. */
function hasDigits({ digits }: SearchTerm, value: string): boolean {
  if (digits.length === 0 || !/^[+0-9\s()./-]+$/.test(value)) return false;
  const all = value.replaceAll(/\D/g, "");
  return digits.some((it) => all.startsWith(it) || all.endsWith(it));
}

function firstMatch(terms: readonly SearchTerm[], value: string): number | undefined {
  for (const { 0: word, index } of value.matchAll(WORD)) {
    const found = word.toLowerCase();
    const isMatch = terms.some(({ words, isOpen }) =>
      words.some((it, i) =>
        isOpen && i === words.length - 1 ? found.startsWith(it.toLowerCase()) : found === it.toLowerCase(),
      ),
    );
    if (isMatch) return index;
  }
  return undefined;
}
