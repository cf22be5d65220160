import { MAX_METADATA_KEYS } from "../../domain/limits.ts";
import { refuse } from "../../domain/refusal.ts";

/** The caller's own keys and values on a shipment. */
export type Metadata = Readonly<Record<string, string>>;

/**
 * Merges given metadata into the current: a given value replaces the current one, an empty value
 * removes its key.
 *
 * @throws Refusal FIELD_INVALID when the result has more than `MAX_METADATA_KEYS` keys
 */
export function mergeMetadata(current: Metadata, given: Metadata): Metadata {
  const merged = new Map(Object.entries(current));
  for (const [key, value] of Object.entries(given)) {
    if (value === "") merged.delete(key);
    else merged.set(key, value);
  }
  if (merged.size > MAX_METADATA_KEYS) {
    throw refuse("FIELD_INVALID", `metadata must have at most ${MAX_METADATA_KEYS} keys.`, {
      subject: "metadata",
    });
  }
  return Object.fromEntries(merged);
}
