/** Possible secrets, whole, partial or percent-encoded. Our own names are shorter. */
const MAYBE_SECRET = /whsec_.*|[\w%+=~-]{32,}/g;

/** Removes possible secrets from user-supplied text before it is stored. */
export function withoutSecrets(text: string): string {
  return text.replace(MAYBE_SECRET, "...");
}
