import { hash } from "node:crypto";
import { hasAtMost } from "../clip.ts";
import { createTariffFaults, isObject, quoted, type TariffFault, type TariffFaults } from "../faults.ts";

/** Id and name of a zone. Both are unique in the tariff. */
export interface ZoneIdentity {
  /** Stays the same across versions if the feature keeps its id or, without an id, its name. */
  readonly id: string;
  /** Display name: the feature's name, with a suffix if several features have the same name. */
  readonly name: string;
}

/** Properties that are used as the name if `name` is missing, in this order. Map editors and ogr2ogr write them. */
const OTHER_NAMES = ["Name", "NAME", "title"] as const;

const MAX_NAME_CHARACTERS = 200;
const MAX_ID_CHARACTERS = 100;

/**
 * Length of a derived id in hexadecimal digits. With 48 bits, a collision among 100,000 names has a
 * probability of 1 in 56,000.
 */
const DERIVED_ID_DIGITS = 12;

/**
 * Returns the identities of a tariff's zones, in the order of the features.
 *
 * A zone's name is the trimmed `properties.name`, otherwise `Name`, `NAME` or `title`, otherwise `zone 3` for the third
 * feature. If several features have the same name, those with an `id` get it as a suffix, as in `Washington (53077)`.
 * The first feature without an `id` keeps the name, and further features are numbered, as in `Washington (2)`. A number
 * is skipped if another zone already has the resulting name.
 *
 * A zone's id is the feature's `id` as text, or is derived from the unique name.
 *
 * Adds errors zone by zone, with paths such as `zones[3].id` and `zones[3].properties.name`. An invalid name or id
 * counts as missing, so the identities are unique in any case. Takes linear time.
 *
 * @param features the features of a GeoJSON FeatureCollection, not necessarily valid
 */
export function identifyZones(features: readonly unknown[], faults: TariffFaults): ZoneIdentity[] {
  const ownerOf = new Map<string, number>();
  const zones = features.map((feature, i) => ({
    ownId: ownIdOf(feature, i, ownerOf, faults),
    name: nameOf(feature, i, faults),
  }));
  const ownIds = zones.map(({ ownId }) => ownId);
  const names = uniqueNames(
    zones.map(({ name }) => name),
    ownIds,
  );
  const takenIds = new Set(ownIds.filter((id) => id !== undefined));
  return names.map((name, i) => ({ id: ownIds[i] ?? deriveId(name, takenIds), name }));
}

function nameOf(feature: unknown, index: number, faults: TariffFaults): string {
  const fallback = `zone ${index + 1}`;
  const properties = propertiesOf(feature);
  const name = properties["name"] ?? "";
  if (isName(name)) return name.trim() || otherName(properties) || fallback;
  faults.add(
    `zones[${index}].properties.name`,
    `must be text of at most ${MAX_NAME_CHARACTERS} characters; it is ${quoted(name)}`,
  );
  return fallback;
}

type Properties = Readonly<Record<string, unknown>>;

function propertiesOf(feature: unknown): Properties {
  return isObject(feature) && isObject(feature.properties) ? feature.properties : {};
}

function isName(value: unknown): value is string {
  return typeof value === "string" && hasAtMost(value, MAX_NAME_CHARACTERS);
}

/** Returns the first valid `OTHER_NAMES` property, trimmed, or an empty string. */
function otherName(properties: Properties): string {
  const names = OTHER_NAMES.map((key) => properties[key]).filter(isName);
  return names.map((name) => name.trim()).find((name) => name !== "") ?? "";
}

/** Returns a warning for each zone without a name, up to `limit` warnings. The document need not be valid. */
export function unnamedZoneWarnings(document: unknown, limit: number): readonly TariffFault[] {
  const warnings = createTariffFaults(limit);
  const features = isObject(document) && Array.isArray(document.features) ? document.features : [];
  for (const [i, feature] of features.entries()) {
    if (warnings.full) break;
    const properties = propertiesOf(feature);
    const name = properties["name"] ?? "";
    if (!isName(name) || name.trim() || otherName(properties)) continue;
    const text = `is not set, so the zone is called "zone ${i + 1}"; set name, Name, NAME or title`;
    warnings.add(`zones[${i}].properties.name`, text);
  }
  return warnings.list;
}

/**
 * Returns the `id` of a feature as text, or `undefined` if it is missing or invalid.
 *
 * @param ownerOf index of the feature by id, for the previous features. The id of this feature is added
 */
function ownIdOf(
  feature: unknown,
  index: number,
  ownerOf: Map<string, number>,
  faults: TariffFaults,
): string | undefined {
  const id = idOf(feature, index, faults);
  if (id === undefined) return undefined;
  const owner = ownerOf.get(id);
  if (owner === undefined) {
    ownerOf.set(id, index);
    return id;
  }
  faults.add(
    `zones[${index}].id`,
    `must differ from that of every other zone; zones[${owner}] has ${quoted(id)} too; ` +
      "change or remove one of them",
  );
  return undefined;
}

function idOf(feature: unknown, index: number, faults: TariffFaults): string | undefined {
  const id = isObject(feature) ? (feature.id ?? "") : "";
  if (id === "") return undefined;
  if (typeof id === "string" && hasAtMost(id, MAX_ID_CHARACTERS)) return id;
  if (Number.isFinite(id)) return String(id as number);
  faults.add(
    `zones[${index}].id`,
    `must be a number or text of at most ${MAX_ID_CHARACTERS} characters; it is ${quoted(id)}`,
  );
  return undefined;
}

/** Names zones with ids first, so that a name with an id suffix does not depend on zones without ids. */
function uniqueNames(names: readonly string[], ids: readonly (string | undefined)[]): readonly string[] {
  const taken = createTakenNames(names);
  const repeated = repeatedNames(names);
  const withIds = names.map((name, i) =>
    ids[i] === undefined || !repeated.has(name) ? name : taken.claim(`${name} (${ids[i]})`),
  );
  const unnumbered = new Set<string>();
  return withIds.map((name, i) => {
    if (ids[i] !== undefined) return name;
    if (unnumbered.has(name)) return taken.claim(name);
    unnumbered.add(name);
    return name;
  });
}

function repeatedNames(names: readonly string[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const name of names) (seen.has(name) ? repeated : seen).add(name);
  return repeated;
}

/** Creates a set of used names. `claim` adds a name, with a number if the name is already used. */
function createTakenNames(names: readonly string[]) {
  const taken = new Set(names);
  // Next number to try for each name, so that no number is tried twice.
  const nextNumbers = new Map<string, number>();
  return {
    claim(preferred: string): string {
      let name = preferred;
      let number = nextNumbers.get(preferred) ?? 2;
      for (; taken.has(name); number++) name = `${preferred} (${number})`;
      nextNumbers.set(preferred, number);
      taken.add(name);
      return name;
    },
  };
}

/** Derives an unused id from a name's SHA-256 and adds it to the used ids. */
function deriveId(name: string, taken: Set<string>): string {
  let id = idFrom(name);
  for (let attempt = 2; taken.has(id); attempt++) id = idFrom(`${name} (${attempt})`);
  taken.add(id);
  return id;
}

function idFrom(text: string): string {
  return `z_${hash("sha256", text, "hex").slice(0, DERIVED_ID_DIGITS)}`;
}

/**
 * Identities of zones, concatenated to one text. As 100,000 objects, they would take about 15 MB
 * and 100 ms to transfer to another thread.
 */
export interface PackedIdentities {
  readonly text: string;
  /** Start offsets of each zone's id and name, followed by the length of the text. */
  readonly starts: Uint32Array<ArrayBuffer>;
}

export function packIdentities(zones: readonly ZoneIdentity[]): PackedIdentities {
  const parts = zones.flatMap(({ id, name }) => [id, name]);
  const starts = new Uint32Array(parts.length + 1);
  for (const [i, { length }] of parts.entries()) starts[i + 1] = starts[i]! + length;
  return { text: parts.join(""), starts };
}

export function identityAt({ text, starts }: PackedIdentities, index: number): ZoneIdentity {
  const name = starts[2 * index + 1]!;
  return { id: text.slice(starts[2 * index], name), name: text.slice(name, starts[2 * index + 2]) };
}
