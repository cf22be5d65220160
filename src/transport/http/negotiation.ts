import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";

/**
 * Whether the request comes from a browser's address bar: a GET or HEAD that prefers text/html to
 * JSON by its Accept header (RFC 9110, section 12.5.1). Ranges with an asterisk count for neither,
 * as programs send them.
 */
export function prefersPage(request: IncomingMessage): boolean {
  if (!isReading(request)) return false;
  const accept = request.headers.accept ?? "";
  return weightOf("text/html", accept) > weightOf("application/json", accept);
}

export function isReading({ method }: IncomingMessage): boolean {
  return method === "GET" || method === "HEAD";
}

/** The weight of a media type or coding in an Accept header, from 0 to 1; 0 when it is not named. */
export function weightOf(type: string, accept: string): number {
  return weightsOf(accept).get(type) ?? 0;
}

/**
 * Of some languages the one that an Accept-Language header prefers by its first subtag, with the tag that named it (RFC
 * 5646); the first language where it names none.
 */
export function preferredLanguage<Language extends string>(
  accepted: string,
  languages: readonly Language[],
): { readonly language: Language; readonly locale: string } {
  let best = { language: languages[0]!, locale: languages[0] as string, weight: 0 };
  for (const [locale, weight] of weightsOf(accepted)) {
    const language = languages.find((each) => each === locale.split("-", 1)[0]);
    if (language === undefined || weight <= best.weight || !LANGUAGE_TAG.test(locale)) continue;
    best = { language, locale, weight };
  }
  return best;
}

/** A language, and perhaps a script and a region. */
const LANGUAGE_TAG = /^[a-z]{2,3}(?:-[a-z]{4})?(?:-(?:[a-z]{2}|\d{3}))?$/;

/** Whether gzip is accepted, and identity is not preferred to it by name. */
export function acceptsGzip(accepted: string): boolean {
  const weights = weightsOf(accepted);
  const weight = weights.get("gzip") ?? weights.get("x-gzip") ?? weights.get("*") ?? 0;
  return weight > 0 && weight >= (weights.get("identity") ?? 0);
}

/** The weights of an Accept header's ranges by their names in lower case; of two, the first counts. */
function weightsOf(accept: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const range of accept.toLowerCase().split(",")) {
    const [name = "", ...parameters] = range.split(";").map((part) => part.trim());
    const weight = parameters.find((parameter) => parameter.startsWith("q="));
    weights.getOrInsert(name, weight === undefined ? 1 : Number(weight.slice(2)) || 0);
  }
  return weights;
}

/** The entity tag of what is sent, in its double quotes. */
export function entityTag(content: string | Buffer): string {
  return `"${createHash("sha256").update(content).digest("base64url").slice(0, 22)}"`;
}

/** A little more than RFC 9110 allows: also blanks in it. */
const ENTITY_TAG = /(?:W\/)?("[^"]*")/g;

/**
 * Whether an If-None-Match header lists an entity tag by the weak comparison (RFC 9110, section
 * 13.1.2), or any will do.
 *
 * @param tag in its double quotes, without `W/`
 */
export function matchesTag(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === "*") return true;
  return [...ifNoneMatch.matchAll(ENTITY_TAG)].some(([, opaque]) => opaque === tag);
}
