import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findChromium } from "./chromium.ts";
import { ownFolder } from "./when-over.ts";

const MISSING = "/nowhere/chromium";

/** Creates a folder with empty executables. */
function programs(...names: string[]): string {
  const folder = ownFolder("chromium");
  for (const name of names) writeFileSync(join(folder, name), "", { mode: 0o755 });
  return folder;
}

test.for([
  "chromium-headless-shell",
  "chromium",
  "chromium-browser",
  "google-chrome",
  "google-chrome-stable",
  "microsoft-edge",
])("finds %s on PATH", (name) => {
  const folder = programs(name);
  const PATH = `/nowhere:${folder}`;
  expect(findChromium({ PATH }, MISSING)).toBe(join(folder, name));
});

test("prefers CHROMIUM_PATH to PATH, and PATH to a download", () => {
  const folder = programs("chromium", "own", "downloaded");
  const [own, downloaded] = ["own", "downloaded"].map((name) => join(folder, name));
  expect(findChromium({ PATH: folder, CHROMIUM_PATH: own }, downloaded)).toBe(own);
  expect(findChromium({ PATH: folder }, downloaded)).toBe(join(folder, "chromium"));
  expect(findChromium({ PATH: "/nowhere" }, downloaded)).toBe(downloaded);
});

test("reports an error if CHROMIUM_PATH is not a program", () => {
  expect(() => findChromium({ CHROMIUM_PATH: MISSING })).toThrow(
    `CHROMIUM_PATH is ${MISSING}, which is not a program.`,
  );
});
