import { MAX_DEPTH } from "../../../domain/canonical-text.ts";
import { clip } from "../../../domain/clip.ts";
import type { TariffFault } from "../../../domain/faults.ts";

/** How much of a fault's path is told, in characters; keys can be of any length. */
const SHOWN_CHARACTERS = 300;

/**
 * Why PostgreSQL could not store a JSON document, or would store another; undefined when it can. It
 * takes no NUL in text and no half of a surrogate pair, and JSON numbers too large for a double would
 * be lost on the way; `canonicalText` takes no deeper nesting.
 */
export function unstorableFault(document: object): TariffFault | undefined {
  const found = findUnstorable(document, 0);
  if (found === undefined) return undefined;
  if (found.text === DEPTH) return { path: "document", text: DEPTH };
  const path = clip(found.path.replace(/^\./, ""), SHOWN_CHARACTERS);
  return { path: path || "document", text: found.text };
}

const TEXT = "must be text without NUL and without half of a surrogate pair";
const KEY = "must have keys without NUL and without half of a surrogate pair";
const DEPTH = `must not be nested deeper than ${MAX_DEPTH} levels`;
const NUMBER = "must be a number below 1.8e308";

function findUnstorable(value: unknown, depth: number): TariffFault | undefined {
  if (typeof value === "number") {
    return Number.isFinite(value) ? undefined : { path: "", text: NUMBER };
  }
  if (typeof value === "string") return isStorable(value) ? undefined : { path: "", text: TEXT };
  if (typeof value !== "object" || value === null) return undefined;
  if (depth >= MAX_DEPTH) return { path: "", text: DEPTH };
  return Array.isArray(value) ? findInList(value, depth) : findInObject(value, depth);
}

function findInList(list: readonly unknown[], depth: number): TariffFault | undefined {
  for (let i = 0; i < list.length; i++) {
    const found = findUnstorable(list[i], depth + 1);
    if (found !== undefined) return { path: `[${i}]${found.path}`, text: found.text };
  }
  return undefined;
}

function findInObject(object: object, depth: number): TariffFault | undefined {
  for (const [key, item] of Object.entries(object)) {
    if (!isStorable(key)) return { path: "", text: KEY };
    const found = findUnstorable(item, depth + 1);
    if (found !== undefined) return { path: `.${key}${found.path}`, text: found.text };
  }
  return undefined;
}

function isStorable(text: string): boolean {
  return !text.includes("\0") && text.isWellFormed();
}
