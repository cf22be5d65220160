import { existsSync, readdirSync, readlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PMTiles } from "pmtiles";
import { describe, expect, test } from "vitest";
import { refuse } from "../../../src/domain/refusal.ts";
import { createMapTiles } from "../../../src/transport/http/map-tiles.ts";
import { listenWith, rawHttp } from "../../support/raw-http.ts";
import { plainTile, writePmtiles } from "../../support/tiles.ts";
import { ownFolder, whenOver } from "../../support/when-over.ts";

const folder = ownFolder("map-tiles");

function serve(
  tiles: Parameters<typeof createMapTiles>[0],
  toRefusal: Parameters<typeof createMapTiles>[1]["toRefusal"] = (error) => {
    throw error;
  },
  ending = new AbortController(),
): Promise<string> {
  const handle = createMapTiles(tiles, { toRefusal, endSignal: ending.signal });
  whenOver(() => ending.abort());
  return listenWith((request, response) => {
    if (!handle(request, response, "request-1")) response.writeHead(404).end();
  });
}

async function get(url: string, path: string, headers: Record<string, string> = {}) {
  const lines = Object.entries({ host: "localhost", connection: "close", ...headers });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  return rawHttp(url, `GET ${path} HTTP/1.1\r\n${head}\r\n`);
}

test.each([
  ["nothing", undefined, null],
  [
    "an address",
    { url: "https://tiles.example.org/{z}/{x}/{y}.png", attribution: "© Example" },
    { url: "https://tiles.example.org/{z}/{x}/{y}.png", attribution: "© Example" },
  ],
  [
    "a file, without its path",
    { file: "/srv/tiles.pmtiles", attribution: "© Example" },
    { archive: "/map/tiles.pmtiles", attribution: "© Example" },
  ],
])("returns the tile source for %s", async (_, tiles, expected) => {
  const answer = await fetch(`${await serve(tiles)}/map/tiles`);
  expect({ status: answer.status, body: await answer.json() }).toEqual({
    status: 200,
    body: { tiles: expected },
  });
});

test("without a file its path returns 404", async () => {
  expect(await get(await serve(undefined), "/map/tiles.pmtiles")).toMatchObject({ status: 404 });
});

describe("a file of 5 MiB", async () => {
  const content = Buffer.alloc(5 * 1024 * 1024, "0123456789");
  const file = join(folder, "five");
  writeFileSync(file, content);
  const url = await serve({ file, attribution: "© Example" });
  const range = (text: string) => get(url, "/map/tiles.pmtiles", { range: text });

  test.each([
    ["bytes=0-4", "01234", "bytes 0-4/5242880"],
    ["bytes=13-13", "3", "bytes 13-13/5242880"],
    ["bytes=5242878-9999999", "89", "bytes 5242878-5242879/5242880"],
  ])("is served for %s", async (path, text, expected) => {
    const answer = await range(path);
    expect({ status: answer.status, text: answer.text }).toEqual({ status: 206, text });
    expect(Object.fromEntries(answer.headers)).toEqual({
      "content-type": "application/octet-stream",
      "content-length": String(text.length),
      "content-range": expected,
      "accept-ranges": "bytes",
      "cache-control": "public, max-age=86400",
      "cross-origin-resource-policy": "same-origin",
      etag: expect.stringMatching(/^"[\w-]+"$/),
      "x-request-id": "request-1",
      date: expect.any(String),
      connection: "close",
    });
  });

  test.each([
    ["more than 4 MiB", "bytes=0-4194304"],
    ["bytes beyond its end", "bytes=5242880-5242890"],
    ["a reversed range", "bytes=9-3"],
    ["the last bytes", "bytes=-5"],
    ["an open range", "bytes=0-"],
    ["two ranges", "bytes=0-1,3-4"],
    ["another unit", "lines=0-1"],
    ["no range", ""],
  ])("is not served for %s", async (_, path) => {
    const { status, text, headers } = await range(path);
    expect({ status, text }).toEqual({ status: 416, text: "" });
    expect(headers.get("content-range")).toBe("bytes */5242880");
  });
});

test("the next request reopens a file that could not be read, and closes the previous handle", async () => {
  const file = join(folder, "cut");
  writeFileSync(file, "0123456789");
  const url = await serve({ file, attribution: "" }, () => refuse("INTERNAL", "Not now."));
  const statusOf = async () => (await get(url, "/map/tiles.pmtiles", { range: "bytes=5-9" })).status;
  expect(await statusOf()).toBe(206);
  for (let times = 0; times < 5; times++) {
    truncateSync(file, 3);
    expect(await statusOf()).toBe(500);
    writeFileSync(file, "0123456789");
    expect(await statusOf()).toBe(206);
  }
  await expect.poll(() => timesOpen(file)).toBeLessThanOrEqual(1);
});

test("closes a file at shutdown and does not reopen it", async () => {
  const file = join(folder, "left");
  writeFileSync(file, "0123456789");
  const ending = new AbortController();
  const url = await serve({ file, attribution: "" }, undefined, ending);
  const range = () => get(url, "/map/tiles.pmtiles", { range: "bytes=5-9" });
  expect(await range()).toMatchObject({ status: 206, text: "56789" });
  ending.abort();
  const { status, text } = await range();
  expect({ status, body: JSON.parse(text) }).toEqual({
    status: 503,
    body: {
      message: "The service is shutting down. Try again in a moment.",
      code: "UNAVAILABLE",
      errors: {},
      request_id: "request-1",
    },
  });
  await expect.poll(() => timesOpen(file)).toBe(0);
});

/** Returns how many times this process has opened a file. 0 on macOS, which does not list open files. */
function timesOpen(file: string): number {
  const FDS = "/proc/self/fd";
  const fds = (existsSync(FDS) ? readdirSync(FDS) : []).map((fd) => join(FDS, fd));
  return fds.filter((fd) => existsSync(fd) && readlinkSync(fd) === file).length;
}

test("serves a file whose tiles can be read as PMTiles", async () => {
  const file = join(folder, "world.pmtiles");
  const tile = plainTile([1, 2, 3]);
  writePmtiles(file, tile, { maxZoom: 3 });
  const archive = new PMTiles(`${await serve({ file, attribution: "" })}/map/tiles.pmtiles`);
  expect(await archive.getHeader()).toMatchObject({ minZoom: 0, maxZoom: 3, tileType: 2 });
  const found = await archive.getZxy(3, 7, 7);
  expect(Buffer.from(found!.data)).toEqual(tile);
  expect(await archive.getZxy(4, 0, 0)).toBeUndefined();
});
