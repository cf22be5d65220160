import { clip } from "./clip.ts";

/** How much of a key a path shows, in characters; keys that are accepted are shorter. */
const SHOWN_CHARACTERS = 100;

/** A map's key as a step of a field's path, as in `metadata["colour"]`: short whatever its size. */
export function mapKey(key: string): string {
  return `[${JSON.stringify(clip(key, SHOWN_CHARACTERS))}]`;
}
