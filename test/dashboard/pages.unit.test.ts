import { globSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { expect, test } from "vitest";
import { keysOf, PAGE_ENTRIES } from "../../src/dashboard/routes/pages.ts";

/** Components that the page table names, by the files that must contain them. */
const NAMED = PAGE_ENTRIES.map(([name, { file: of = name }]) => {
  const file = of.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return `${file}.page.tsx: ${name.charAt(0).toUpperCase()}${name.slice(1)}Page`;
});

test("each page component is exported from the file with its name and has a route", () => {
  const files = globSync("src/dashboard/*/*.page.tsx");
  const written = files.flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(/^export function (\w+Page)\(/gm)].map(
      ([, component]) => `${basename(file)}: ${component}`,
    ),
  );
  expect(written.toSorted()).toEqual(NAMED.toSorted());
});

test.each(["/w/", "/platform"])("each page of the navigation at %s has its own keys", (root) => {
  const labeled = PAGE_ENTRIES.filter(([, { path, label }]) => label !== undefined && path.startsWith(root));
  const keys = labeled.map(([, entry]) => keysOf(entry));
  expect(keys).toEqual([...new Set(keys)]);
});
