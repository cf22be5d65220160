/** What may be a secret, whole, in part or with percent signs: names of ours are shorter. */
const MAYBE_SECRET = /whsec_.*|[\w%+=~-]{32,}/g;

/** A text that somebody may have written, fit to be kept: it may hold a key in the place of something else. */
export function withoutSecrets(text: string): string {
  return text.replace(MAYBE_SECRET, "...");
}
