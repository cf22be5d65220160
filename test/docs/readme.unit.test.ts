import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { expect, test } from "vitest";
import { createSlugs } from "../../src/docs-pages/build/links.ts";

const README = readFileSync("README.md", "utf8");

test("the README starts with the product's scope and one picture", () => {
  const [beginning = ""] = README.split("\n## ");
  expect(beginning).toMatch(
    /^# Shipment booking\n\nThis service prices, books and tracks deliveries within your own delivery areas,.*It is for\s/s,
  );
  expect(beginning.match(/!\[[^\]]{40,}\]\(src\/docs\/pictures\//g)).toHaveLength(1);
  expect(beginning).toContain("It is **not** ");
  expect(beginning.length).toBeLessThan(1_800);
});

test("the two guides that operators search during an incident stay short", () => {
  const bytesOf = (name: string) => statSync(`src/docs/${name}.md`).size;
  expect(bytesOf("operations")).toBeLessThan(21_175);
  expect(bytesOf("production")).toBeLessThan(20_000);
});

test("no guide names a version tag", () => {
  const guides = readdirSync("src/docs").filter((it) => it.endsWith(".md"));
  const pages = ["README.md", ...guides.map((it) => `src/docs/${it}`)];
  const naming = pages.filter((it) => /\bv\d{1,3}\.\d+\.\d+/.test(readFileSync(it, "utf8")));
  expect(naming).toEqual([]);
});

test("the README's table lists every guide, once", () => {
  const guides = readdirSync("src/docs").filter((it) => it.endsWith(".md"));
  const listed = [...README.matchAll(/^\| \[.*?\]\(src\/docs\/(.*?)\)/gm)].map(([, name]) => name!);
  expect(listed.toSorted()).toEqual(guides.toSorted());
});

test.each(["README.md", "CONTRIBUTING.md", "SECURITY.md"])("%s has no broken links", (name) => {
  const links = [...readFileSync(name, "utf8").matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link!);
  const anchorsOf = (file: string) => {
    const slugOf = createSlugs();
    const headings = readFileSync(file, "utf8").matchAll(/^#{1,6} (.*)$/gm);
    return [...headings].map(([, heading]) => slugOf(heading!));
  };
  const broken = links.filter((link) => {
    const [file = "", anchor] = link.split("#");
    return !existsSync(file) || (anchor !== undefined && !anchorsOf(file).includes(anchor));
  });
  expect(links.length).toBeGreaterThan(3);
  expect(broken).toEqual([]);
});
