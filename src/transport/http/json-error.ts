const SPACE = /[\t\n\r ]*/y;
/** Matches the longest well-formed prefix of a string, without its closing quote. */
// eslint-disable-next-line no-control-regex -- the grammar excludes control characters
const STRING = /"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\u0000-\u001f]*)*/y;
const OTHER = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)?/y;

/** Characters that can start a value. `x` represents numbers, true, false and null. */
const VALUE = '{["x';

/**
 * Describes the position at which a text is no longer valid JSON, with the character found there. `JSON.parse` reports
 * the position only for some errors.
 */
export function describeJsonError(text: string): string {
  const index = jsonErrorIndex(text);
  const lines = text.slice(0, index).split("\n");
  const where = `line ${lines.length}, column ${lines.at(-1)!.length + 1}`;
  const found = text.codePointAt(index);
  if (found === undefined) return `it ends unexpectedly at ${where}`;
  // Non-ASCII characters can be invisible or ambiguous, so they are shown by code point.
  const shown = found < 0x7f ? JSON.stringify(text[index]) : `U+${hex(found)}`;
  return `unexpected ${shown} at ${where}`;
}

function hex(codePoint: number): string {
  return codePoint.toString(16).toUpperCase().padStart(4, "0");
}

/** Returns the index of the first character that makes the text invalid JSON (RFC 8259). */
function jsonErrorIndex(text: string): number {
  const open: ("}" | "]")[] = [];
  let expected = VALUE;
  for (let at = 0; ;) {
    at = endOf(SPACE, text, at);
    const kind = kindOf(text.charAt(at));
    if (kind === "" || !expected.includes(kind)) return at;
    const isName = expected.startsWith('"');
    if (kind === "x") {
      const end = endOf(OTHER, text, at);
      if (end === at) return at;
      at = end;
    } else if (kind === '"') {
      at = endOf(STRING, text, at);
      if (text[at] !== '"') return at;
      at++;
    } else at++;
    if (kind === "{") {
      open.push("}");
      expected = '"}';
    } else if (kind === "[") {
      open.push("]");
      expected = `${VALUE}]`;
    } else if (kind === ":") expected = VALUE;
    else if (kind === ",") expected = open.at(-1) === "}" ? '"' : VALUE;
    else if (isName && kind === '"') expected = ":";
    else {
      if (kind === "}" || kind === "]") open.pop();
      expected = open.length === 0 ? "" : `,${open.at(-1)}`;
    }
  }
}

function kindOf(character: string): string {
  return '{}[]:,"'.includes(character) ? character : "x";
}

function endOf(token: RegExp, text: string, at: number): number {
  token.lastIndex = at;
  token.exec(text);
  return token.lastIndex;
}
