import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { expect, test } from "vitest";

const GUIDES = readdirSync("src/docs").filter((it) => it.endsWith(".md"));
const PAGES = ["README.md", ...GUIDES.map((it) => join("src/docs", it))];

/** A page without its code. */
function textOf(path: string): string {
  return readFileSync(path, "utf8").replace(/^```[^]*?^```$/gm, "");
}

/** The anchors of a page's headings, as GitHub makes them. */
function anchorsOf(path: string): string[] {
  return [...textOf(path).matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\w\- ]/g, "")
      .replaceAll(" ", "-"),
  );
}

test.each(PAGES)("the links of %s lead somewhere", (page) => {
  const links = [...textOf(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link!);
  const broken = links.filter((link) => {
    if (/^https?:/.test(link)) return false;
    const [path, anchor] = link.split("#") as [string, string | undefined];
    const file = path === "" ? page : relative(".", join(dirname(page), path));
    return !existsSync(file) || (anchor !== undefined && !anchorsOf(file).includes(anchor));
  });
  expect(broken).toEqual([]);
});

test("the README's table lists every guide, once", () => {
  const listed = [
    ...readFileSync("README.md", "utf8").matchAll(/^\| \[.*?\]\(src\/docs\/(.*?)\)/gm),
  ];
  expect(listed.map(([, name]) => name!).toSorted()).toEqual(GUIDES.toSorted());
});
