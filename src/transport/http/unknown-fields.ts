import type { Violation } from "../../domain/refusal.ts";

/** How much of a path a header shows, in characters. */
const SHOWN_CHARACTERS = 100;
const QUOTED = /"(?:[^"\\]|\\.)*"/g;
const HANDLING = /(?:^|,)\s*handling\s*=\s*(strict|lenient)\s*(?=[;,]|$)/i;
const NO_HEADERS: readonly string[] = [];
const STRICT: readonly string[] = ["preference-applied", "handling=strict"];

/**
 * Whether a caller would rather be refused than have a mistake of its own ignored: `handling=strict` in
 * a `Prefer` header, of which the first word on handling counts (RFC 7240, sections 2 and 4.4).
 */
export function prefersStrict(prefer: string | undefined): boolean {
  if (prefer === undefined) return false;
  // Quotes make no difference around a word, and hide what is within them otherwise.
  const plain = prefer.replace(QUOTED, (it) => (/^"\w+"$/.test(it) ? it.slice(1, -1) : ""));
  return HANDLING.exec(plain)?.[1]?.toLowerCase() === "strict";
}

/** The refusal of an unknown field. */
export function unknownFieldViolation(path: string): Violation {
  const text = `${path} is no field of this request.`;
  return { reason: "FIELD_INVALID", subject: path, text };
}

/**
 * The headers that tell what was made of unknown fields: they are named when they were ignored. Names
 * and values in turn.
 *
 * @param paths few enough for a header
 */
export function handlingHeaders(paths: readonly string[], isStrict: boolean): readonly string[] {
  if (isStrict) return STRICT;
  return paths.length === 0 ? NO_HEADERS : ["ignored-fields", paths.map(headerText).join(", ")];
}

/** A path in visible ASCII without commas: what else it has is percent-encoded. */
function headerText(path: string): string {
  return encodeURIComponent(path.toWellFormed())
    .replace(/%5B/g, "[")
    .replace(/%5D/g, "]")
    .slice(0, SHOWN_CHARACTERS)
    .replace(/%.?$/, "");
}
