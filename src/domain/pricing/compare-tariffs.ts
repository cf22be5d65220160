import { canonicalText } from "../canonical-text.ts";
import { identifyZones } from "../coverage/zone-identities.ts";
import { compareSchedules, differenceAt, type Difference } from "../schedule/compare-schedules.ts";
import { createTariffFaults } from "../faults.ts";

export interface TariffDifferences {
  /**
   * Differences as JSON by path, such as `base_fee` or `tiers[1].rate_per_kg`. The path is
   * `tiers[1]` for a tier that only one document has.
   */
  readonly fees: Difference[];
  readonly zones: ZoneDifferences;
  /**
   * Up to 1,000 differences as JSON by path, such as `schedules[day].hours` or
   * `schedules[day].exceptions[2026-12-25]`.
   */
  readonly schedules: Difference[];
}

/** Names of zones that differ, in order, up to 1,000 of each kind, and their counts. */
interface ZoneDifferences {
  readonly added: string[];
  readonly removed: string[];
  /** New names of the zones whose geometry, name or properties differ. */
  readonly changed: string[];
  readonly addedCount: number;
  readonly removedCount: number;
  readonly changedCount: number;
  readonly unchangedCount: number;
}

interface ValidDocument {
  readonly currency: string;
  readonly base_fee: string;
  readonly rate_per_km: string;
  readonly tiers: readonly ValidTier[];
  readonly zones: { readonly features: readonly ValidFeature[] };
}

interface ValidTier {
  readonly min_kg: number;
  readonly max_kg: number;
  readonly flat_fee: string;
  readonly rate_per_kg: string;
}

interface ValidFeature {
  readonly geometry: object;
  readonly properties?: unknown;
}

/**
 * Compares two valid tariff documents. Tiers are matched by position, and zones by id (see
 * `identifyZones`). Unknown keys are ignored, except in schedules and zone properties.
 */
export function compareTariffs(before: object, after: object): TariffDifferences {
  const [from, to] = [before as ValidDocument, after as ValidDocument];
  return {
    fees: compareFees(from, to),
    zones: compareZones(from, to),
    schedules: compareSchedules(before, after),
  };
}

const FEES = ["currency", "base_fee", "rate_per_km"] as const;

function compareFees(from: ValidDocument, to: ValidDocument): Difference[] {
  const fees = FEES.flatMap((fee) => differencesAt(fee, from[fee], to[fee]));
  const tierCount = Math.max(from.tiers.length, to.tiers.length);
  const tiers = Array.from({ length: tierCount }, (_, i) => compareTiers(`tiers[${i}]`, from.tiers[i], to.tiers[i]));
  return [...fees, ...tiers.flat()];
}

const PARTS_OF_TIER = ["min_kg", "max_kg", "flat_fee", "rate_per_kg"] as const;

function compareTiers(path: string, from: ValidTier | undefined, to: ValidTier | undefined): Difference[] {
  if (from === undefined || to === undefined) {
    return differencesAt(path, from && tierText(from), to && tierText(to));
  }
  return PARTS_OF_TIER.flatMap((part) => differencesAt(`${path}.${part}`, String(from[part]), String(to[part])));
}

/** Returns the JSON text of a tier without unknown keys. */
function tierText(tier: ValidTier): string {
  return JSON.stringify(tier, [...PARTS_OF_TIER]);
}

function differencesAt(path: string, before: string | undefined, after: string | undefined) {
  return before === after ? [] : [differenceAt(path, before, after)];
}

const MAX_NAMES = 1_000;

function compareZones(from: ValidDocument, to: ValidDocument): ZoneDifferences {
  const before = zonesById(from);
  const after = zonesById(to);
  const added: string[] = [];
  const changed: string[] = [];
  for (const [id, zone] of after) {
    const earlier = before.get(id);
    if (earlier === undefined) added.push(zone.name);
    else if (textOf(zone) !== textOf(earlier)) changed.push(zone.name);
  }
  const removed = [...before].filter(([id]) => !after.has(id)).map(([, { name }]) => name);
  return {
    added: firstSorted(added),
    removed: firstSorted(removed),
    changed: firstSorted(changed),
    addedCount: added.length,
    removedCount: removed.length,
    changedCount: changed.length,
    unchangedCount: after.size - added.length - changed.length,
  };
}

interface NamedZone {
  readonly name: string;
  readonly feature: ValidFeature;
}

function zonesById({ zones: { features } }: ValidDocument): ReadonlyMap<string, NamedZone> {
  const identities = identifyZones(features, createTariffFaults(0));
  return new Map(identities.map(({ id, name }, i) => [id, { name, feature: features[i]! }]));
}

function textOf({ name, feature: { geometry, properties } }: NamedZone): string {
  return canonicalText({ name, geometry, properties: properties ?? null });
}

function firstSorted(names: readonly string[]): string[] {
  return names.toSorted().slice(0, MAX_NAMES);
}
