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

/** Has a build of two sources, begun in second 100, and files that were changed in other seconds. */
function arrange(changed: Readonly<Record<string, number>>): void {
  for (const path of ["src/one.ts", "src/two.ts"]) {
    const file = join(folder, path);
    rmSync(file, { force: true });
    if (changed[path] === undefined) continue;
    writeFileSync(file, "");
    utimesSync(file, changed[path], changed[path]);
  }
  const list = { startedMs: 100_000, paths: ["src/one.ts", "src/two.ts"] };
  writeFileSync(join(folder, "src/built/sources.json"), JSON.stringify(list));
}

test("sources that were not changed since the build run as they were built", () => {
  arrange({ "src/one.ts": 98, "src/two.ts": 99 });
  expect(choose()).toBe(BUILT);
});

test.each([100, 101])("one that was changed while or after it was built runs itself: %d", (at) => {
  arrange({ "src/one.ts": 98, "src/two.ts": at });
  expect(choose()).toBe(SOURCES);
});

test("what was built runs without its sources", () => {
  arrange({});
  expect(choose()).toBe(BUILT);
});

test("sources run when nothing is built", () => {
  arrange({ "src/one.ts": 98, "src/two.ts": 99 });
  rmSync(join(folder, "src/built/sources.json"));
  expect(choose()).toBe(SOURCES);
});
