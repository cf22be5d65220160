import { MAX_DEPTH } from "../../../domain/canonical-text.ts";
import { clip } from "../../../domain/clip.ts";
import type { TariffFault } from "../../../domain/faults.ts";

/** Maximum length of a path in an error, in characters. Document keys can have any length. */
const SHOWN_CHARACTERS = 300;

/**
 * Returns why PostgreSQL cannot store a JSON document unchanged, or `undefined` if it can.
 * PostgreSQL rejects NUL and lone surrogates in text. Numbers beyond the range of a double would be
 * lost. The nesting depth is limited as in `canonicalText`.
 */
export function unstorableFault(document: object): TariffFault | undefined {
  const found = findUnstorable(document, 0);
  if (found === undefined) return undefined;
  if (found.text === DEPTH) return { path: "document", text: DEPTH };
  const path = clip(found.path.replace(/^\./, ""), SHOWN_CHARACTERS);
  return { path: path || "document", text: found.text };
}

const TEXT = "must be text without NUL or lone surrogates";
const KEY = "must have keys without NUL or lone surrogates";
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
