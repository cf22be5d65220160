import { canonicalText } from "./canonical-text.ts";
import { clip } from "./clip.ts";
import type { Fault } from "./faults.ts";

/** How much of a fault's path is told, in characters; keys can be of any length. */
const SHOWN_CHARACTERS = 300;

/**
 * Why PostgreSQL could not store a JSON document, or would store another; undefined when it can. It
 * takes no NUL in text and no half of a surrogate pair, and JSON numbers too large for a double would
 * be lost on the way.
 *
 * @param document nested at most 100 levels deep, as `canonicalText` makes sure
 */
export function unstorableFault(document: object): Fault | undefined {
  const found = findUnstorable(document);
  if (found === undefined) return undefined;
  const path = clip(found.path.replace(/^\./, ""), SHOWN_CHARACTERS);
  return { path: path || "document", text: found.text };
}

/** The canonical text of a document, or the fault that it is nested too deeply. */
export function canonicalTextOrFault(
  document: object,
): { readonly text: string; readonly fault?: undefined } | { readonly fault: Fault } {
  try {
    return { text: canonicalText(document) };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return { fault: { path: "document", text: `must not be ${error.message}` } };
  }
}

const TEXT = "must be text without NUL and without half of a surrogate pair";
const KEY = "must have keys without NUL and without half of a surrogate pair";
const NUMBER = "must be a number below 1.8e308";

function findUnstorable(value: unknown): Fault | undefined {
  if (typeof value === "number") {
    return Number.isFinite(value) ? undefined : { path: "", text: NUMBER };
  }
  if (typeof value === "string") return isStorable(value) ? undefined : { path: "", text: TEXT };
  if (typeof value !== "object" || value === null) return undefined;
  return Array.isArray(value) ? findInList(value) : findInObject(value);
}

function findInList(list: readonly unknown[]): Fault | undefined {
  for (let i = 0; i < list.length; i++) {
    const found = findUnstorable(list[i]);
    if (found !== undefined) return { path: `[${i}]${found.path}`, text: found.text };
  }
  return undefined;
}

function findInObject(object: object): Fault | undefined {
  for (const [key, item] of Object.entries(object)) {
    if (!isStorable(key)) return { path: "", text: KEY };
    const found = findUnstorable(item);
    if (found !== undefined) return { path: `.${key}${found.path}`, text: found.text };
  }
  return undefined;
}

function isStorable(text: string): boolean {
  return !text.includes("\0") && text.isWellFormed();
}
