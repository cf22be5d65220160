import { describe, expect, test } from "vitest";
import { compareTariffs } from "../../../src/domain/pricing/compare-tariffs.ts";
import { square, worldTariff } from "../../support/tariffs.ts";

const TIERS = [
  { min_kg: 0, max_kg: 5, flat_fee: "0.00", rate_per_kg: "0.50" },
  { min_kg: 5, max_kg: 30, flat_fee: "2.00", rate_per_kg: "0.40" },
];

/** Returns a zone around a point on the equator, with properties and an optional id. */
function zone(at: number, properties: object | null, id?: string | number): object {
  const geometry = { type: "Polygon", coordinates: square(at, 0, at + 1, 1) };
  return { type: "Feature", ...(id === undefined ? {} : { id }), properties, geometry };
}

function tariffWith(...features: object[]): object {
  return worldTariff({ zones: { type: "FeatureCollection", features } });
}

const NONE = {
  added: [],
  removed: [],
  changed: [],
  addedCount: 0,
  removedCount: 0,
  changedCount: 0,
  unchangedCount: 0,
};

describe("fees", () => {
  const feesOf = (before: object, after: object) => compareTariffs(worldTariff(before), worldTariff(after)).fees;

  test("that differ are listed by path, in document order, as written", () => {
    const after = {
      currency: "EUR",
      base_fee: "1.00",
      rate_per_km: "0.5",
      tiers: [
        { min_kg: 0.5, max_kg: 4, flat_fee: "0.00", rate_per_kg: "0.500" },
        { min_kg: 5, max_kg: 30, flat_fee: "3.00", rate_per_kg: "0.40" },
      ],
    };
    expect(feesOf({ tiers: TIERS }, after)).toEqual([
      { path: "currency", before: "USD", after: "EUR" },
      { path: "base_fee", before: "0", after: "1.00" },
      { path: "rate_per_km", before: "0", after: "0.5" },
      { path: "tiers[0].min_kg", before: "0", after: "0.5" },
      { path: "tiers[0].max_kg", before: "5", after: "4" },
      { path: "tiers[0].rate_per_kg", before: "0.50", after: "0.500" },
      { path: "tiers[1].flat_fee", before: "2.00", after: "3.00" },
    ]);
  });

  test("of a tier in only one version are listed as its whole text", () => {
    const text = '{"min_kg":5,"max_kg":30,"flat_fee":"2.00","rate_per_kg":"0.40"}';
    const noted = [TIERS[0], { note: "heavy", ...TIERS[1] }];
    expect(feesOf({ tiers: [TIERS[0]] }, { tiers: noted })).toEqual([{ path: "tiers[1]", after: text }]);
    expect(feesOf({ tiers: noted }, { tiers: [TIERS[0]] })).toEqual([{ path: "tiers[1]", before: text }]);
  });

  test("that are equal are not listed, whatever else changes", () => {
    expect(feesOf({ tiers: TIERS }, { tiers: TIERS, source: "us-atlas" })).toEqual([]);
  });
});

describe("zones", () => {
  const zonesOf = (before: object[], after: object[]) =>
    compareTariffs(tariffWith(...before), tariffWith(...after)).zones;

  test("are matched by their ids, in any order", () => {
    const before = [zone(0, { name: "Kings" }, 1), zone(2, { name: "Queens" }), zone(4, null, "x")];
    expect(zonesOf(before, before.toReversed())).toEqual({
      ...NONE,
      // A zone without a name is identified by its position.
      changed: ["zone 1"],
      changedCount: 1,
      unchangedCount: 2,
    });
  });

  test("in only one version are added or removed, sorted by name", () => {
    const before = [zone(0, { name: "b" }), zone(2, { name: "d" }), zone(4, { name: "a" }, 7)];
    const after = [zone(6, { name: "e" }), zone(0, { name: "b" }), zone(4, { name: "a" }, 8)];
    expect(zonesOf(before, after)).toEqual({
      ...NONE,
      added: ["a", "e"],
      addedCount: 2,
      removed: ["a", "d"],
      removedCount: 2,
      unchangedCount: 1,
    });
  });

  test("are changed by another outline, name or property, and have their later names", () => {
    const before = [
      zone(0, { name: "outline" }),
      zone(2, { name: "before" }, 1),
      zone(4, { name: "property", fips: "1" }),
      zone(6, { name: "same", a: 1, b: { c: 2, d: 3 } }),
    ];
    const after = [
      zone(1, { name: "outline" }),
      zone(2, { name: "after" }, 1),
      zone(4, { name: "property", fips: "2" }),
      { ...zone(6, { b: { d: 3, c: 2 }, a: 1, name: "same" }), bbox: [6, 0, 7, 1] },
    ];
    expect(zonesOf(before, after)).toEqual({
      ...NONE,
      changed: ["after", "outline", "property"],
      changedCount: 3,
      unchangedCount: 1,
    });
  });

  test("with the same name are distinguished", () => {
    const before = [zone(0, { name: "W" }, 1), zone(2, { name: "W" }, 2), zone(4, { name: "X" })];
    const after = [zone(0, { name: "W" }, 1), zone(2, { name: "W", a: 1 }, 2), zone(4, null)];
    expect(zonesOf(before, after)).toEqual({
      ...NONE,
      added: ["zone 3"],
      addedCount: 1,
      removed: ["X"],
      removedCount: 1,
      changed: ["W (2)"],
      changedCount: 1,
      unchangedCount: 1,
    });
  });

  test("are listed up to 1,000 per kind and counted beyond", () => {
    const many = (prefix: string, at: number) =>
      Array.from({ length: 1_001 }, (_, i) => zone(at, { name: `${prefix}${1_000 + i}` }));
    const before = [...many("old", 0), ...many("kept", 0)];
    const after = [...many("new", 0), ...many("kept", 1)];
    const zones = zonesOf(before, after);
    expect(zones).toMatchObject({
      addedCount: 1_001,
      removedCount: 1_001,
      changedCount: 1_001,
      unchangedCount: 0,
    });
    for (const names of [zones.added, zones.removed, zones.changed]) {
      expect(names).toHaveLength(1_000);
      expect(names[999]).toMatch(/1999$/);
    }
  });
});
