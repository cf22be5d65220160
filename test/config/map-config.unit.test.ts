import { join } from "node:path";
import { expect, test } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { plainTile, writePmtiles } from "../support/tiles.ts";
import { ownFolder } from "../support/when-over.ts";

const attribution = "© Example";
const WITH = { MAP_TILES_ATTRIBUTION: attribution };
const folder = ownFolder("map-config");
const png = join(folder, "png.pmtiles");
const vector = join(folder, "vector.pmtiles");
writePmtiles(png, plainTile([1, 2, 3]), { maxZoom: 0 });
writePmtiles(vector, Buffer.from("a vector tile"), { maxZoom: 0, type: "mvt" });

test.each([
  "https://tiles.example.org/{z}/{x}/{y}.png",
  "https://tiles.example.org:8443/{z}/{y}/{x}?key=a1",
  "http://10.0.0.5/{z}/{x}/{y}.webp",
  "https://[::1]/{z}/{x}/{y}",
])("accepts %s as a source of map tiles", (url) => {
  const { mapTiles } = readConfig({ ...WITH, MAP_TILES_URL: url });
  expect(mapTiles).toEqual({ url, attribution });
});

test.each([
  "tiles.example.org/{z}/{x}/{y}.png",
  "ftp://tiles.example.org/{z}/{x}/{y}.png",
  "https://tiles.example.org/{z}/{x}.png",
  "https://tiles.example.org/{z}/{x}/{y}/{y}.png",
  "https://{s}.example.org/{z}/{x}/{y}.png",
  "https://{x}.example.org/{z}/0/{y}.png",
  "https://ada:secret@tiles.example.org/{z}/{x}/{y}.png",
  "https://tiles.example.org;script-src/{z}/{x}/{y}.png",
  "https://tiles.example.org/{z}/{x}/{y}.png#part",
  "https://tiles.example.org/{z}/{x}/{y}.png 'unsafe-inline'",
])("refuses %s, naming the variable and an example", (url) => {
  expect(() => readConfig({ ...WITH, MAP_TILES_URL: url })).toThrow(
    "MAP_TILES_URL: must be a URL such as https://tiles.example.org/{z}/{x}/{y}.png",
  );
});

test("accepts a PMTiles file as a source of map tiles", () => {
  const { mapTiles } = readConfig({ ...WITH, MAP_TILES_FILE: png });
  expect(mapTiles).toEqual({ file: png, attribution });
});

test.each([
  ["does not exist", join(folder, "nowhere.pmtiles")],
  ["is a folder", folder],
  ["is not PMTiles", import.meta.filename],
  ["has vector tiles", vector],
])("refuses a file that %s", (_, file) => {
  expect(() => readConfig({ ...WITH, MAP_TILES_FILE: file })).toThrow(
    "MAP_TILES_FILE: must be a readable PMTiles file, version 3, with PNG, JPEG, WebP or AVIF images",
  );
});

test("refuses two sources of map tiles", () => {
  const both = { MAP_TILES_URL: "https://a.example/{z}/{x}/{y}", MAP_TILES_FILE: png };
  expect(() => readConfig({ ...WITH, ...both })).toThrow(
    "MAP_TILES_URL and MAP_TILES_FILE are both set: set one of them",
  );
});

test("without a source, maps show only coasts, borders and cities", () => {
  expect(readConfig({}).mapTiles).toBeUndefined();
});
