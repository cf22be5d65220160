import { copyFileSync, mkdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeTemporaryFolder } from "./support/temporary-folder.ts";

const BUILT = "src/built/program.js";
const SOURCES = "src/commands/program.ts";

let folder: string;
let choose: () => string;

beforeAll(async () => {
  folder = makeTemporaryFolder("program-url");
  mkdirSync(join(folder, "src/built"), { recursive: true });
  copyFileSync("src/program-url.js", join(folder, "src/program-url.js"));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  const { programUrl } = await import(pathToFileURL(join(folder, "src/program-url.js")).href);
  choose = () => programUrl().slice(pathToFileURL(folder).href.length + 1);
});

afterAll(() => rmSync(folder, { recursive: true }));

const AS_BUILT = { "src/commands/program.ts": 98, "src/other.ts": 99 };

/** Has a build of sources that were changed in these seconds and hold one byte, and sources as given. */
function arrange(sources: Readonly<Record<string, number>>, text = "1"): void {
  rmSync(join(folder, "src/commands"), { recursive: true, force: true });
  rmSync(join(folder, "src/other.ts"), { force: true });
  mkdirSync(join(folder, "src/commands"));
  for (const [path, changed] of Object.entries(sources)) {
    writeFileSync(join(folder, path), text);
    utimesSync(join(folder, path), changed, changed);
  }
  const stamps = Object.entries(AS_BUILT).map(([path, changed]) => [path, [changed * 1_000, 1]]);
  const list = { sources: Object.fromEntries(stamps), built: [] };
  writeFileSync(join(folder, "src/built/sources.json"), JSON.stringify(list));
}

test("sources that are as they were built run as they were built", () => {
  arrange(AS_BUILT);
  expect(choose()).toBe(BUILT);
});

test.each([98, 100, 2 ** 31])(
  "sources of which one was changed since run themselves, whenever that was: %d",
  (changed) => {
    arrange({ ...AS_BUILT, "src/other.ts": changed });
    expect(choose()).toBe(SOURCES);
  },
);

test("sources of which one has another size, or is gone, run themselves", () => {
  arrange(AS_BUILT, "22");
  expect(choose()).toBe(SOURCES);
  arrange({ "src/commands/program.ts": 98 });
  expect(choose()).toBe(SOURCES);
});

test("what was built runs where the program has no sources, whatever else there is", () => {
  arrange({ "src/other.ts": 100 });
  expect(choose()).toBe(BUILT);
});

test("sources run when nothing is built", () => {
  arrange(AS_BUILT);
  rmSync(join(folder, "src/built/sources.json"));
  expect(choose()).toBe(SOURCES);
});
