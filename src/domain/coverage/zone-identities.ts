import { hash } from "node:crypto";
import { hasAtMost } from "../clip.ts";
import {
  createTariffFaults,
  isObject,
  quoted,
  type TariffFault,
  type TariffFaults,
} from "../faults.ts";

/** Id and name of a zone, both unique in its tariff. */
export interface ZoneIdentity {
  /** Stable across versions as long as the feature's id, or otherwise its name, is. */
  readonly id: string;
  /** For people: the feature's name, with a suffix if several features have it. */
  readonly name: string;
}

/** Properties that name a zone where `name` does not, in order: map editors and ogr2ogr write these. */
const OTHER_NAMES = ["Name", "NAME", "title"] as const;

const MAX_NAME_CHARACTERS = 200;
const MAX_ID_CHARACTERS = 100;

/** 48 bits: a collision among 100,000 names has a probability of 1 in 56,000. */
const DERIVED_ID_DIGITS = 12;

/**
 * The identities of a tariff's zones, in the order of the features, which are not changed.
 *
 * A name is `properties.name`, trimmed, or else `Name`, `NAME` or `title`, or else `zone 3` for the third feature. If
 * several features have the same name, those with an `id` get it as a suffix, as in `Washington (53077)`; of the others
 * the first keeps the name and the rest are numbered, as in `Washington (2)`. Numbers that make the name of another zone
 * are skipped.
 *
 * An id is the feature's own, as text, or else derived from the unique name.
 *
 * Faults are added at `zones[3].id` and `zones[3].properties.name`, zone by zone. The identities are unique even where
 * there are faults: such a name or id counts as missing. Takes linear time.
 *
 * @param features the features of a GeoJSON FeatureCollection, checked or not
 */
export function identifyZones(features: readonly unknown[], faults: TariffFaults): ZoneIdentity[] {
  const ownerOf = new Map<string, number>();
  const given = features.map((feature, i) => ({
    ownId: ownIdOf(feature, i, ownerOf, faults),
    name: nameOf(feature, i, faults),
  }));
  const ownIds = given.map(({ ownId }) => ownId);
  const names = uniqueNames(
    given.map(({ name }) => name),
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

/** Returns the first other name that is text of an allowed length; empty if absent. */
function otherName(properties: Properties): string {
  const names = OTHER_NAMES.map((key) => properties[key]).filter(isName);
  return names.map((name) => name.trim()).find((name) => name !== "") ?? "";
}

/** Returns a warning for each zone that has no name of its own, at most `limit`. Takes any document. */
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
 * Returns a feature's own id as text. `undefined` if it has none or an invalid one.
 *
 * @param ownerOf feature index by id of the previous features. The id is added.
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
      "give one of them another, or none",
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

/** Zones with ids come first, so that a name made from an id does not depend on zones without one. */
function uniqueNames(
  names: readonly string[],
  ids: readonly (string | undefined)[],
): readonly string[] {
  const taken = createTakenNames(names);
  const repeated = repeatedNames(names);
  const withIds = names.map((name, i) =>
    ids[i] === undefined || !repeated.has(name) ? name : taken.claim(`${name} (${ids[i]})`),
  );
  const kept = new Set<string>();
  return withIds.map((name, i) => {
    if (ids[i] !== undefined) return name;
    if (kept.has(name)) return taken.claim(name);
    kept.add(name);
    return name;
  });
}

function repeatedNames(names: readonly string[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const name of names) (seen.has(name) ? repeated : seen).add(name);
  return repeated;
}

/** Creates a set of used names. `claim` adds a name, numbered if it is already used. */
function createTakenNames(names: readonly string[]) {
  const taken = new Set(names);
  // Next number to try for a name, so that no number is tried twice.
  const nextNumbers = new Map<string, number>();
  return {
    claim(wanted: string): string {
      let name = wanted;
      let number = nextNumbers.get(wanted) ?? 2;
      for (; taken.has(name); number++) name = `${wanted} (${number})`;
      nextNumbers.set(wanted, number);
      taken.add(name);
      return name;
    },
  };
}

/** Derives an unused id from a name's SHA-256 and adds it to the used ones. */
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
 * Identities of zones in one text, by index. 100,000 objects would take about 15 MB and 100 ms to
 * transfer to another thread.
 */
export interface PackedIdentities {
  readonly text: string;
  /** Start of the id and of the name of each zone, and the end of the text. */
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
