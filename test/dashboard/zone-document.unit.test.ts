import { expect, test } from "vitest";
import { readZoneDocument, withSchedule } from "../../src/dashboard/tariffs/zone-document.ts";
import { square } from "../support/tariffs.ts";

const NOTHING = { listed: [], zones: { type: "FeatureCollection", features: [] } };

test.each([
  ["invalid JSON", "{"],
  ["an empty text", ""],
  ["a null", "null"],
  ["an object without features", "{}"],
  ["features that are not a list", '{"features": {}}'],
])("%s is not readable", (_, text) => {
  expect(readZoneDocument(text)).toEqual({ ...NOTHING, isReadable: false });
});

test("an empty list of features is readable, without zones", () => {
  expect(readZoneDocument('{"features": []}')).toEqual({ ...NOTHING, isReadable: true });
});

test("zones keep their positions and are named after them if they have no name", () => {
  const geometry = { type: "Polygon", coordinates: square(0, 0, 1, 1) };
  const many = { type: "MultiPolygon", coordinates: [square(0, 0, 1, 1)] };
  const features = [
    { type: "Feature", properties: { name: "Kings" }, geometry },
    { type: "Feature", properties: { name: 7 }, geometry: { type: "Point", coordinates: [0, 0] } },
    { type: "Feature", properties: null, geometry: many },
  ];
  const kings = { type: "Feature", properties: { name: "Kings" }, geometry };
  const third = { type: "Feature", properties: { name: "Zone 3" }, geometry: many };
  expect(readZoneDocument(JSON.stringify({ features }))).toEqual({
    isReadable: true,
    listed: [
      { index: 0, name: "Kings", zone: kings },
      { index: 1, name: "Zone 2", zone: undefined },
      { index: 2, name: "Zone 3", zone: third },
    ],
    zones: { type: "FeatureCollection", features: [kings, third] },
  });
});

test.each([
  ["a null", null],
  ["a number", 7],
  ["a text", "zone"],
  ["no geometry", {}],
  ["null as its geometry", { geometry: null }],
  ["a geometry without coordinates", { geometry: { type: "Polygon" } }],
  ["a polygon without rings", { geometry: { type: "Polygon", coordinates: [] } }],
  [
    "a ring of three positions",
    polygon([
      [
        [0, 0],
        [1, 0],
        [0, 0],
      ],
    ]),
  ],
  ["a position of one number", polygon([[[0], [1, 0], [1, 1], [0, 0]]])],
  [
    "a position of texts",
    polygon([
      [
        ["0", "0"],
        [1, 0],
        [1, 1],
        [0, 0],
      ],
    ]),
  ],
  ["a polygon instead of a ring", polygon([square(0, 0, 1, 1)])],
  ["a collection", { geometry: { type: "GeometryCollection", geometries: [] } }],
])("lists a feature that cannot be drawn: %s", (_, feature) => {
  const { listed, zones } = readZoneDocument(JSON.stringify({ features: [feature] }));
  expect({ listed, drawn: zones.features }).toEqual({
    listed: [{ index: 0, name: "Zone 1", zone: undefined }],
    drawn: [],
  });
});

function polygon(coordinates: unknown): object {
  return { type: "Feature", geometry: { type: "Polygon", coordinates } };
}

test("assigns a schedule to one zone or to all, removes it, and keeps all other data", () => {
  const geometry = { type: "Polygon", coordinates: square(0, 0, 1, 1) };
  const features = [
    { type: "Feature", properties: { name: "Kings", schedule: "city" }, geometry },
    { type: "Feature", properties: null, geometry },
  ];
  const text = JSON.stringify({ type: "FeatureCollection", made: "by hand", features });
  const propertiesOf = (changed: string) => JSON.parse(changed).features.map(({ properties }: any) => properties);
  expect(propertiesOf(withSchedule(text, 1, "night"))).toEqual([
    { name: "Kings", schedule: "city" },
    { schedule: "night" },
  ]);
  expect(propertiesOf(withSchedule(text, undefined, ""))).toEqual([{ name: "Kings" }, {}]);
  expect(JSON.parse(withSchedule(text, 0, "city"))).toEqual(JSON.parse(text));
  expect(readZoneDocument(text).listed.map(({ schedule }) => schedule)).toEqual(["city", undefined]);
});
