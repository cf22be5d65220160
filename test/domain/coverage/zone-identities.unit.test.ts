import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { feature } from "topojson-client";
import type { GeometryCollection, Topology } from "topojson-specification";
import { describe, expect, test } from "vitest";
import { identifyZones, unnamedZoneWarnings } from "../../../src/domain/coverage/zone-identities.ts";
import { createTariffFaults } from "../../../src/domain/faults.ts";

function identify(features: readonly unknown[]) {
  const faults = createTariffFaults(100);
  const identities = identifyZones(features, faults);
  return { identities, faults: faults.list };
}

/** Creates features that have a name, an id, or both. */
function named(...zones: (string | [name: string | undefined, id: string | number])[]) {
  return zones.map((it) => {
    const [name, id] = typeof it === "string" ? [it, undefined] : it;
    return { type: "Feature", id, properties: { name } };
  });
}

function namesOf(features: readonly unknown[]) {
  const { identities, faults } = identify(features);
  expect(faults).toEqual([]);
  return identities.map(({ name }) => name);
}

function idsOf(features: readonly unknown[]) {
  const { identities, faults } = identify(features);
  expect(faults).toEqual([]);
  return identities.map(({ id }) => id);
}

function derivedId(name: string) {
  return `z_${createHash("sha256").update(name).digest("hex").slice(0, 12)}`;
}

describe("the name of a zone", () => {
  test.each([
    [{ Name: " Centre " }, "Centre"],
    [{ NAME: "Centre" }, "Centre"],
    [{ title: "Centre" }, "Centre"],
    [{ name: "Kings", Name: "Centre" }, "Kings"],
    [{ name: " ", Name: 7, NAME: "x".repeat(201), title: "Centre" }, "Centre"],
    [{ Name: "", title: null }, "zone 1"],
    [null, "zone 1"],
  ])("with the properties %j is %s", (properties, name) => {
    const feature = { type: "Feature", properties };
    expect(namesOf([feature])).toEqual([name]);
    const path = "zones[0].properties.name";
    const text = 'is not set, so the zone is called "zone 1"; set name, Name, NAME or title';
    const document = { type: "FeatureCollection", features: [feature] };
    expect(unnamedZoneWarnings(document, 100)).toEqual(name === "zone 1" ? [{ path, text }] : []);
  });

  test.each([
    ["is its own name, trimmed", [" Kings ", "Queens"], ["Kings", "Queens"]],
    ["is case-sensitive", ["Kings", "kings"], ["Kings", "kings"]],
    ["is its position if it has none", ["Kings", "", " "], ["Kings", "zone 2", "zone 3"]],
    ["gets a number, except the first", ["A", "B", "A", "A"], ["A", "B", "A (2)", "A (3)"]],
    ["skips numbers that would equal another name", ["A (2)", "A", "A"], ["A (2)", "A", "A (3)"]],
    ["also skips the names of later zones", ["A", "A", "A (2)"], ["A", "A (3)", "A (2)"]],
    [
      "gets another number if a numbered name is repeated",
      ["A", "A", "A (2)", "A (2)"],
      ["A", "A (3)", "A (2)", "A (2) (2)"],
    ],
    ["gets a number if a position gives the same name", ["zone 2", ""], ["zone 2", "zone 2 (2)"]],
  ])("%s", (_, zones, names) => {
    expect(namesOf(named(...zones))).toEqual(names);
  });

  test.each<[string, Parameters<typeof named>, string[]]>([
    ["stays as it is if it is unique", [["Washington", 53_077]], ["Washington"]],
    [
      "is followed by its id if others have it",
      [
        ["Washington", "53077"],
        ["Washington", 1129],
      ],
      ["Washington (53077)", "Washington (1129)"],
    ],
    [
      "is kept by the first zone without an id",
      [["Washington", 1129], "Washington", "Washington"],
      ["Washington (1129)", "Washington", "Washington (2)"],
    ],
    ["is followed by its id before others are numbered", ["A", "A", ["A", 2]], ["A", "A (3)", "A (2)"]],
    [
      "gets a number if name and id equal another name",
      [
        ["A", "x) (y"],
        ["A", 1],
        ["A (x)", "y"],
        ["A (x)", 2],
      ],
      ["A (x) (y)", "A (1)", "A (x) (y) (2)", "A (x) (2)"],
    ],
    ["gets a number if its id would repeat another name", [["A", 1], "A", "A (1)"], ["A (1) (2)", "A", "A (1)"]],
    ["is a position followed by its id", ["zone 2", [undefined, 7]], ["zone 2", "zone 2 (7)"]],
  ])("%s", (_, zones, names) => {
    expect(namesOf(named(...zones))).toEqual(names);
  });
});

describe("the id of a zone", () => {
  test("is the feature's id as text, whatever its name", () => {
    const features = named(["A", "53077"], ["A", 7], ["B", -1.5], ["C", 0], ["D", "x".repeat(100)]);
    expect(idsOf(features)).toEqual(["53077", "7", "-1.5", "0", "x".repeat(100)]);
  });

  test("is derived from its unique name if the feature has none", () => {
    const features = [...named("Kings", "Kings"), { id: null }, { id: "" }, { id: undefined }];
    const names = ["Kings", "Kings (2)", "zone 3", "zone 4", "zone 5"];
    expect(idsOf(features)).toEqual(names.map(derivedId));
    expect(derivedId("Kings")).toBe("z_b4b994a24501");
  });

  test("is the same in every version with the name, in any order", () => {
    const before = identify(named("A", "B", ["C", 3])).identities;
    const after = identify(named("D", ["C", 3], "B", "A")).identities;
    const idByName = new Map(after.map(({ name, id }) => [name, id]));
    expect(before.map(({ name }) => idByName.get(name))).toEqual(before.map(({ id }) => id));
  });

  test("differs if a feature's own id equals the derived one", () => {
    const features = named("A", ["B", derivedId("A")], ["C", derivedId("A (2)")]);
    expect(idsOf(features)).toEqual([derivedId("A (3)"), derivedId("A"), derivedId("A (2)")]);
  });
});

describe("identifyZones refuses, with the path, the problem and the fix", () => {
  const ID = "must be a number or text of at most 100 characters";
  test.each([
    ["a list", [], "a list"],
    ["an object", {}, "an object"],
    ["a boolean", false, "false"],
    ["infinity", Infinity, "Infinity"],
    ["text that is too long", "x".repeat(101), `"${"x".repeat(40)}…"`],
  ])("an id that is %s", (_, id, shown) => {
    expect(identify([{ id: 1 }, { id }])).toEqual({
      identities: [
        { id: "1", name: "zone 1" },
        { id: derivedId("zone 2"), name: "zone 2" },
      ],
      faults: [{ path: "zones[1].id", text: `${ID}; it is ${shown}` }],
    });
  });

  test("an id that an earlier zone has, as text or number", () => {
    const { identities, faults } = identify(named(["A", 1], ["B", "7"], ["C", 7], ["D", "7"]));
    const text = 'must differ from that of every other zone; zones[1] has "7" too; change or remove one of them';
    expect(faults).toEqual([
      { path: "zones[2].id", text },
      { path: "zones[3].id", text },
    ]);
    expect(identities.map(({ id }) => id)).toEqual(["1", "7", derivedId("C"), derivedId("D")]);
  });

  test("a name that is not text or is too long", () => {
    const features = [{ properties: { name: 5 } }, { properties: { name: "x".repeat(201) } }];
    const text = "must be text of at most 200 characters; it is";
    expect(identify(features).faults).toEqual([
      { path: "zones[0].properties.name", text: `${text} 5` },
      { path: "zones[1].properties.name", text: `${text} "${"x".repeat(40)}…"` },
    ]);
  });
});

test("identities are unique for any names and ids, also invalid ones", () => {
  // Uses few letters, so that names, numbered names and names with ids collide.
  const text = fc
    .array(fc.constantFrom("A", " ", " (2)", " (3)", " (A)", "(", ")", "zone 1"))
    .map((parts) => parts.slice(0, 4).join(""));
  const ids = fc.oneof(
    fc.constant(undefined),
    fc.constantFrom("2", "A", 2, 3, "A) (2", "(2)", {}, derivedId("A"), derivedId("A (2)")),
  );
  const features = fc.array(fc.oneof(fc.record({ id: ids, properties: fc.record({ name: text }) }), fc.anything()), {
    maxLength: 30,
  });
  fc.assert(
    fc.property(features, (zones) => {
      const { identities } = identify(zones);
      expect(identities.length).toBe(zones.length);
      expect(new Set(identities.map(({ id }) => id)).size).toBe(zones.length);
      expect(new Set(identities.map(({ name }) => name)).size).toBe(zones.length);
      expect(identify(zones).identities).toEqual(identities);
    }),
    { numRuns: 2000 },
  );
});

test("numbers 100,000 zones with one name without using a taken name", () => {
  const literal = Array.from({ length: 50_000 }, (_, i) => `A (${i + 2})`);
  const repeated = Array.from({ length: 50_000 }, () => "A");
  const names = namesOf(named(...literal, ...repeated));
  const numbered = Array.from({ length: 49_999 }, (_, i) => `A (${i + 50_002})`);
  expect(names).toEqual([...literal, "A", ...numbered]);
});

test("distinguishes the 31 counties called Washington in us-atlas by their ids", () => {
  const url = import.meta.resolve("us-atlas/counties-10m.json");
  const atlas = JSON.parse(readFileSync(new URL(url), "utf8")) as Topology<{
    counties: GeometryCollection;
  }>;
  const { features } = feature(atlas, atlas.objects.counties);
  const { identities, faults } = identify(features);
  const washingtons = identities.filter(({ name }) => name.startsWith("Washington ("));
  expect([faults, washingtons.length]).toEqual([[], 31]);
  expect(washingtons.every(({ id, name }) => name === `Washington (${id})`)).toBe(true);
  expect(new Set(identities.map(({ name }) => name)).size).toBe(3231);
  expect(identities.map(({ id }) => id)).toEqual(features.map(({ id }) => id));
});
