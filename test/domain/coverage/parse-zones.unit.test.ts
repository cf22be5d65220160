import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { feature } from "topojson-client";
import type { GeometryCollection, Topology } from "topojson-specification";
import { describe, expect, test } from "vitest";
import { ring } from "../../support/tariffs.ts";
import { createTariffFaults } from "../../../src/domain/faults.ts";
import { MAX_POSITIONS, MAX_ZONES, parseZones } from "../../../src/domain/coverage/parse-zones.ts";

const SQUARE = ring("0 0, 1 0, 1 1, 0 1, 0 0");

function read(document: unknown, limit = 100) {
  const faults = createTariffFaults(limit);
  const zones = parseZones(document, faults);
  return { zones, faults: faults.list };
}

function collection(...features: unknown[]) {
  return { type: "FeatureCollection", features };
}

function featureOf(geometry: unknown, properties: unknown = {}) {
  return { type: "Feature", properties, geometry };
}

function derivedId(name: string) {
  return `z_${createHash("sha256").update(name).digest("hex").slice(0, 12)}`;
}

function polygon(...coordinates: unknown[]) {
  return featureOf({ type: "Polygon", coordinates });
}

const PROPERTIES = {
  name: " Yakima ",
  depot: { city: "Union Gap", docks: [1, 2] },
  notes: null,
  id: "not the feature's",
};

describe("parseZones reads", () => {
  test("no zones", () => {
    expect(read(collection())).toEqual({ zones: [], faults: [] });
  });

  test("Polygons and MultiPolygons, names with their defaults, and unknown keys", () => {
    const document = {
      bbox: [],
      ...collection(
        featureOf({ type: "Polygon", coordinates: [SQUARE] }, { name: " Kings ", colour: "red" }),
        featureOf({ type: "MultiPolygon", coordinates: [[SQUARE], [SQUARE]] }, null),
        { ...featureOf({ type: "Polygon", coordinates: [SQUARE] }, { name: "" }), id: 7 },
        { type: "Feature", geometry: { type: "Polygon", coordinates: [SQUARE] } },
      ),
    };
    expect(read(document)).toEqual({
      zones: [
        { id: derivedId("Kings"), name: "Kings", polygons: [[SQUARE]] },
        { id: derivedId("zone 2"), name: "zone 2", polygons: [[SQUARE], [SQUARE]] },
        { id: "7", name: "zone 3", polygons: [[SQUARE]] },
        { id: derivedId("zone 4"), name: "zone 4", polygons: [[SQUARE]] },
      ],
      faults: [],
    });
  });

  test("a document without changing it", () => {
    const document = collection(
      { ...featureOf({ type: "Polygon", coordinates: [SQUARE] }, PROPERTIES), id: 53_077 },
      featureOf({ type: "Polygon", coordinates: [SQUARE] }, PROPERTIES),
      { ...featureOf({ type: "Polygon", coordinates: [SQUARE] }), bbox: [0, 0, 1, 1], id: "" },
    );
    const before = structuredClone(document);
    expect(read(document).zones.map(({ id, name }) => [id, name])).toEqual([
      ["53077", "Yakima (53077)"],
      [derivedId("Yakima"), "Yakima"],
      [derivedId("zone 3"), "zone 3"],
    ]);
    expect(document).toEqual(before);
  });

  test.each([
    ["altitudes", SQUARE.map(([lng, lat], i) => [lng, lat, i])],
    ["doubled positions", [[0, 0], ...SQUARE.flatMap((p) => [p, p])]],
    ["the extreme coordinates", ring("-180 -90, 0 -90, 180 -90, 180 90, 0 90, -180 90, -180 -90")],
    ["the whole world in four corners", ring("-180 -90, 180 -90, 180 90, -180 90, -180 -90")],
    ["an edge of exactly 180 degrees", ring("-90 0, 90 0, 0 50, -90 0")],
  ])("%s", (_, ring) => {
    expect(read(collection(polygon(ring))).faults).toEqual([]);
  });
});

const COLLECTION = 'must be a GeoJSON object of type "FeatureCollection"';
const FEATURE = 'must be a GeoJSON object of type "Feature"';
const NAME = "must be text of at most 200 characters; it is";
const POSITION = ": a position is [longitude, latitude] or [longitude, latitude, altitude] in numbers";
const OUTER = "the outer ring";
const SPLIT = "split the polygon at the antimeridian into a MultiPolygon";
const wide = (from: string, to: string) =>
  `${OUTER} has an edge of more than 180 degrees of longitude, from [${from}] to [${to}]; if it crosses the antimeridian, ${SPLIT}; otherwise add a position between`;
const WRITE = "write [longitude, latitude], in that order";
const OPEN = `${OUTER} is not closed; repeat its first position as its last`;
const CROSSED = ring("0 0, 1 1, 1 0, 0 1, 0 0");
const CROSSES = `${OUTER} crosses itself near [0.5, 0.5]; redraw it so that its edges meet only at their ends`;
const POSITIONS: unknown[] = SQUARE;
const atPosition = (index: number, position: unknown) => polygon(POSITIONS.with(index, position));
const multi = (...coordinates: unknown[]) => featureOf({ type: "MultiPolygon", coordinates });
const named = (name: unknown) => collection(featureOf({ type: "Polygon", coordinates: [SQUARE] }, { name }));

describe("refuses, with the path, the problem and the fix", () => {
  test.each<[string, unknown, string, string]>([
    ["nothing", undefined, "zones", COLLECTION],
    ["a list", [], "zones", COLLECTION],
    ["a single feature", polygon(SQUARE), "zones", COLLECTION],
    [
      "no features",
      { type: "FeatureCollection" },
      "zones",
      "features must be a list of GeoJSON features; it is missing",
    ],
    ["a null feature", collection(null), "zones[0]", FEATURE],
    ["a bare geometry", collection(polygon(SQUARE).geometry), "zones[0]", FEATURE],
    ["a name that is not text", named(5), "zones[0].properties.name", `${NAME} 5`],
    ["a name that is too long", named("x".repeat(201)), "zones[0].properties.name", `${NAME} "${"x".repeat(40)}…"`],
  ])("%s", (_, document, path, text) => {
    expect(read(document).faults).toEqual([{ path, text }]);
  });

  const KIND = "must be a GeoJSON Polygon or MultiPolygon; its type is";
  const RINGS = "the coordinates must be a list of at least one ring";
  const FOUR = "must be a list of at least 4 positions";
  test.each<[string, object, string]>([
    ["no geometry", featureOf(null), `${KIND} missing`],
    ["a point", featureOf({ type: "Point", coordinates: [0, 0] }), `${KIND} "Point"`],
    ["a Polygon without coordinates", featureOf({ type: "Polygon" }), RINGS],
    ["an empty Polygon", polygon(), RINGS],
    ["an empty MultiPolygon", multi(), "coordinates must be a list of at least one polygon"],
    ["a Polygon as a MultiPolygon", multi(SQUARE), `${OUTER} of polygon 1 ${FOUR}`],
    ["three positions", polygon(SQUARE.slice(0, 3)), `${OUTER} ${FOUR}`],
    ["a ring that is not a list", polygon(SQUARE, 7), `hole 1 ${FOUR}`],
    ["a short position", atPosition(1, [1]), `${OUTER} has an invalid position 2${POSITION}`],
    ["a long position", atPosition(1, [1, 0, 0, 0]), `${OUTER} has an invalid position 2${POSITION}`],
    ["text instead of numbers", atPosition(2, ["1", 1]), `${OUTER} has an invalid position 3${POSITION}`],
    ["infinity", atPosition(2, [1, Infinity]), `${OUTER} has an invalid position 3${POSITION}`],
    [
      "a latitude out of range",
      polygon(ring("0 0, 1 0, 1 -90.5, 0 0")),
      `${OUTER} has an invalid position 3: latitude -90.5 is not between -90 and 90; ${WRITE}`,
    ],
    [
      "a longitude out of range",
      polygon(ring("170 0, 190 0, 190 1, 170 0")),
      `${OUTER} has an invalid position 2: longitude 190 is not between -180 and 180; if it crosses the antimeridian, ${SPLIT}`,
    ],
    ["an open ring", polygon(ring("0 0, 1 0, 1 1, 0 1")), OPEN],
    ["a ring open by latitude alone", polygon(ring("0 0, 1 0, 1 1, 0 1e-9")), OPEN],
    ["an edge over the antimeridian", polygon(ring("170 0, -170 0, -170 5, 170 5, 170 0")), wide("170, 0", "-170, 0")],
    ["a slanting edge from 180 to -180", polygon(ring("-180 0, 180 1, 0 5, -180 0")), wide("-180, 0", "180, 1")],
    ["a crossed ring", polygon(CROSSED), CROSSES],
    ["a crossed ring among many", multi([SQUARE], [CROSSED]), `in polygon 2, ${CROSSES}`],
  ])("%s as a geometry", (_, zone, text) => {
    expect(read(collection(zone)).faults).toEqual([{ path: "zones[0].geometry", text }]);
  });

  test("all faults together by feature index, with those of the id and name first", () => {
    const document = collection(
      polygon(SQUARE),
      null,
      polygon(SQUARE.slice(1), SQUARE.slice(0, 2)),
      { ...multi([], [SQUARE]), properties: { name: [] }, id: {} },
      { ...polygon(SQUARE), id: [] },
    );
    const id = "must be a number or text of at most 100 characters; it is";
    expect(read(document).faults.map(({ path, text }) => `${path}: ${text}`)).toEqual([
      `zones[1]: ${FEATURE}`,
      `zones[2].geometry: ${OPEN}`,
      `zones[3].id: ${id} an object`,
      `zones[3].properties.name: ${NAME} a list`,
      "zones[3].geometry: the coordinates of polygon 1 must be a list of at least one ring",
      `zones[4].id: ${id} a list`,
    ]);
  });
});

describe("parseZones limits the number of", () => {
  test("zones", () => {
    expect(read({ type: "FeatureCollection", features: Array.from({ length: MAX_ZONES + 1 }) }).faults).toEqual([
      { path: "zones", text: "has 100001 features; at most 100000 are allowed" },
    ]);
  });

  test("positions of all zones together, before checking any shape", () => {
    const half = Array.from({ length: MAX_POSITIONS / 2 + 1 }, () => [0, 0]);
    expect(read(collection(polygon(half), multi([half])))).toEqual({
      zones: [{ id: derivedId("zone 1"), name: "zone 1", polygons: [[half]] }],
      faults: [
        {
          path: "zones[0].geometry",
          text: "the outer ring has fewer than three different positions; give it at least three corners",
        },
        { path: "zones", text: "the zones have more than 5000000 positions; simplify them" },
      ],
    });
  });

  test("compared edges, and reads nothing beyond the shape that exceeds the limit", () => {
    const faults = createTariffFaults(100);
    const zones = parseZones(
      collection(polygon(SQUARE), multi([SQUARE], [SQUARE]), null, { ...polygon(SQUARE), id: [] }),
      faults,
      { left: 20 },
    );
    expect([zones.length, faults.list]).toEqual([
      2,
      [
        {
          path: "zones[1].geometry",
          text:
            "in polygon 1, here and in earlier zones, there are too many long parallel edges to check; " +
            "simplify them or split their polygons into smaller ones",
        },
        {
          path: "zones[3].id",
          text: "must be a number or text of at most 100 characters; it is a list",
        },
      ],
    ]);
  });

  test("faults, and reads nothing beyond the last reported one", () => {
    const many = collection(...Array.from({ length: 1000 }, () => null));
    expect(read(many, 3).faults.map((fault) => fault.path)).toEqual(["zones[0]", "zones[1]", "zones[2]"]);
    expect(read(many, 3).zones.length).toBe(3);
  });
});

test("parseZones finds invalid shapes in 40 of the 3,231 counties of us-atlas", () => {
  const url = import.meta.resolve("us-atlas/counties-10m.json");
  const atlas = JSON.parse(readFileSync(new URL(url), "utf8")) as Topology<{
    counties: GeometryCollection;
  }>;
  const counties = feature(atlas, atlas.objects.counties);
  const { zones, faults } = read(counties);
  const faulty = new Set(faults.map((fault) => fault.path));
  expect([zones.length, faulty.size]).toEqual([3231, 40]);

  // The atlas rounds to a grid, which pinches or flattens shapes that are narrower than a grid cell.
  const kinds = ["fewer than three", "touches itself", "crosses itself", "runs back over itself"];
  const counts = kinds.map((kind) => faults.filter((fault) => fault.text.includes(kind)).length);
  expect([counts, faults.length]).toEqual([[21, 16, 3, 3], 43]);
});
