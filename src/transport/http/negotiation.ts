import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";

/**
 * Whether a request is a browser navigation: a GET or HEAD that prefers text/html to JSON (RFC 9110,
 * 12.5.1). Wildcards are ignored, because programs send them.
 */
export function prefersPage(request: IncomingMessage): boolean {
  if (!isReading(request)) return false;
  const accept = request.headers.accept ?? "";
  return weightOf("text/html", accept) > weightOf("application/json", accept);
}

export function isReading({ method }: IncomingMessage): boolean {
  return method === "GET" || method === "HEAD";
}

/**
 * Returns the weight of a media type or content coding in an Accept header, from 0 to 1. Returns 0 if
 * it is not listed.
 */
export function weightOf(type: string, accept: string): number {
  return weightsOf(accept).get(type) ?? 0;
}

/**
 * Returns the language that an Accept-Language header prefers, and the tag that matched it by its first subtag (RFC
 * 5646). Returns the first language if no tag matches.
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

/** Matches a language with optional script and region. */
const LANGUAGE_TAG = /^[a-z]{2,3}(?:-[a-z]{4})?(?:-(?:[a-z]{2}|\d{3}))?$/;

/** Whether the caller accepts gzip and does not explicitly prefer the identity coding. */
export function acceptsGzip(accepted: string): boolean {
  const weights = weightsOf(accepted);
  const weight = weights.get("gzip") ?? weights.get("x-gzip") ?? weights.get("*") ?? 0;
  return weight > 0 && weight >= (weights.get("identity") ?? 0);
}

/** Returns the weights in an Accept header by lower-case name. If a name is repeated, the first weight counts. */
function weightsOf(accept: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const range of accept.toLowerCase().split(",")) {
    const [name = "", ...parameters] = range.split(";").map((part) => part.trim());
    const weight = parameters.find((parameter) => parameter.startsWith("q="));
    weights.getOrInsert(name, weight === undefined ? 1 : Number(weight.slice(2)) || 0);
  }
  return weights;
}

/** Returns the entity tag of content, in double quotes. */
export function entityTag(content: string | Buffer): string {
  return `"${createHash("sha256").update(content).digest("base64url").slice(0, 22)}"`;
}

/** Matches an entity tag. Also allows blanks, which RFC 9110 does not permit. */
const ENTITY_TAG = /(?:W\/)?("[^"]*")/g;

/**
 * Whether an If-None-Match header matches an entity tag by weak comparison (RFC 9110, 13.1.2).
 *
 * @param tag entity tag in double quotes, without `W/`
 */
export function matchesTag(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === "*") return true;
  return [...ifNoneMatch.matchAll(ENTITY_TAG)].some(([, opaque]) => opaque === tag);
}
