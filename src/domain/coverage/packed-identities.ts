import type { ZoneIdentity } from "./zone-identities.ts";

/**
 * The identities of zones in one text, by their places: 100,000 objects would take some 15 MB, and
 * 100 ms to move to another thread.
 */
export interface PackedIdentities {
  readonly text: string;
  /** Where the id of each zone begins, then its name; at last where the text ends. */
  readonly starts: Uint32Array<ArrayBuffer>;
}

export function packIdentities(zones: readonly ZoneIdentity[]): PackedIdentities {
  const parts = zones.flatMap(({ id, name }) => [id, name]);
  const starts = new Uint32Array(parts.length + 1);
  for (const [i, { length }] of parts.entries()) starts[i + 1] = starts[i]! + length;
  return { text: parts.join(""), starts };
}

export function identityAt({ text, starts }: PackedIdentities, place: number): ZoneIdentity {
  const name = starts[2 * place + 1]!;
  return { id: text.slice(starts[2 * place], name), name: text.slice(name, starts[2 * place + 2]) };
}
