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
])("images of maps come from %s", (url) => {
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
])("%s is refused, by the variable and with an example", (url) => {
  expect(() => readConfig({ ...WITH, MAP_TILES_URL: url })).toThrow(
    "MAP_TILES_URL: must be a URL such as https://tiles.example.org/{z}/{x}/{y}.png",
  );
});

test("images of maps come from a PMTiles file", () => {
  const { mapTiles } = readConfig({ ...WITH, MAP_TILES_FILE: png });
  expect(mapTiles).toEqual({ file: png, attribution });
});

test.each([
  ["is not there", join(folder, "nowhere.pmtiles")],
  ["is a folder", folder],
  ["is no PMTiles", import.meta.filename],
  ["has vector tiles", vector],
])("a file that %s is refused", (_, file) => {
  expect(() => readConfig({ ...WITH, MAP_TILES_FILE: file })).toThrow(
    "MAP_TILES_FILE: must be a readable PMTiles file, version 3, with PNG, JPEG, WebP or AVIF images",
  );
});

test("two sources of images are refused", () => {
  const both = { MAP_TILES_URL: "https://a.example/{z}/{x}/{y}", MAP_TILES_FILE: png };
  expect(() => readConfig({ ...WITH, ...both })).toThrow(
    "MAP_TILES_URL and MAP_TILES_FILE are both set: set one of them",
  );
});

test("without a source maps have coasts, borders and cities alone", () => {
  expect(readConfig({}).mapTiles).toBeUndefined();
});
