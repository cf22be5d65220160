import { MAX_METADATA_KEYS } from "../../domain/limits.ts";
import { refuse } from "../../domain/refusal.ts";

/** The caller's own notes on a shipment. */
export type Metadata = Readonly<Record<string, string>>;

/**
 * Notes with others put over them: a blank value removes its note.
 *
 * @throws Refusal FIELD_INVALID when that makes too many
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
