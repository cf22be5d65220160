import { mapKey } from "./clip.ts";

/**
 * Returns the path of the first member that occurs twice in a JSON object, such as `routes[1].weight_kg`. Returns
 * `undefined` if all members are unique. `JSON.parse` silently keeps the last value.
 *
 * @param text valid JSON
 * @param value the object or list that `JSON.parse` returned for the text
 */
export function duplicateMember(text: string, value: object): string | undefined {
  // Each member has one colon. If no string contains colons, equal counts mean that no member was dropped.
  return countColons(text) === countMembers(value) ? undefined : findDuplicate(text);
}

function countColons(text: string): number {
  let count = 0;
  for (let at = text.indexOf(":"); at !== -1; at = text.indexOf(":", at + 1)) count++;
  return count;
}

/**
 * Counts the members of all objects in a JSON value. Iterative, because a body can be nested
 * thousands of levels deep.
 */
function countMembers(value: object): number {
  let count = 0;
  const pending: object[] = [];
  for (let next: object | undefined = value; next !== undefined; next = pending.pop()) {
    if (Array.isArray(next)) {
      for (const item of next) if (typeof item === "object" && item !== null) pending.push(item);
    } else {
      for (const name in next) {
        count++;
        const item = (next as Readonly<Record<string, unknown>>)[name];
        if (typeof item === "object" && item !== null) pending.push(item);
      }
    }
  }
  return count;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BEGIN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const END_LIST = 0x5d;
const BEGIN_OBJECT = 0x7b;
const END_OBJECT = 0x7d;
const SPACE = 0x20;

/** An object or list that the scan has entered, with the current member or item. */
interface Open {
  /** Names of the members so far. `undefined` for a list. */
  readonly names: Set<string> | undefined;
  at: string | number;
}

function findDuplicate(text: string): string | undefined {
  const open: Open[] = [];
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case QUOTE: {
        const end = endOfString(text, i);
        const innermost = open.at(-1);
        if (innermost?.names !== undefined && isName(text, end)) {
          const name = JSON.parse(text.slice(i, end)) as string;
          innermost.at = name;
          if (innermost.names.has(name)) return pathOf(open);
          innermost.names.add(name);
        }
        i = end - 1;
        break;
      }
      case BEGIN_OBJECT:
        open.push({ names: new Set(), at: "" });
        break;
      case BEGIN_LIST:
        open.push({ names: undefined, at: 0 });
        break;
      case END_OBJECT:
      case END_LIST:
        open.pop();
        break;
      case COMMA: {
        const innermost = open.at(-1)!;
        if (typeof innermost.at === "number") innermost.at++;
      }
    }
  }
  return undefined;
}

/** Returns the index after a string's closing quote. */
function endOfString(text: string, begin: number): number {
  for (let i = begin + 1; ; i++) {
    const code = text.charCodeAt(i);
    if (code === BACKSLASH) i++;
    else if (code === QUOTE) return i + 1;
  }
}

/** Whether the string that ends at `end` is a member name, that is, followed by a colon. */
function isName(text: string, end: number): boolean {
  let i = end;
  while (text.charCodeAt(i) <= SPACE) i++;
  return text.charCodeAt(i) === COLON;
}

/** Maximum number of steps in a path. Outer steps are dropped. */
const SHOWN_STEPS = 12;

function pathOf(open: readonly Open[]): string {
  const steps = open.slice(-SHOWN_STEPS).map(({ at }) => {
    if (typeof at === "number") return `[${at}]`;
    return /^\w{1,100}$/.test(at) ? `.${at}` : mapKey(at);
  });
  return steps.join("").replace(/^\./, "");
}
