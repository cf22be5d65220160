/** Matches possible secrets, including partial and percent-encoded ones. Known names are shorter. */
const MAYBE_SECRET = /whsec_.*|[\w%+=~-]{32,}/g;

/** Removes possible secrets from user-supplied text before it is stored. */
export function withoutSecrets(text: string): string {
  return text.replace(MAYBE_SECRET, "...");
}
