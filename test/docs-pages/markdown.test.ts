import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { describe, expect, test } from "vitest";
import { createSlugs } from "../../src/docs-pages/build/links.ts";
import { startService } from "../support/service.ts";

const service = await startService({ publicUrl: "https://book.example.org" });

const get = async (path: string) => {
  const { status, text, headers } = await service.request(path);
  return { status, text, headers: Object.fromEntries(headers) };
};

const withoutCode = (markdown: string) => markdown.replaceAll(/^ *```[^]*?^ *```|`[^`]+`/gm, "");
const linksOf = (markdown: string) => [...withoutCode(markdown).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link!);

/** Returns the anchors of a document's headings. */
function anchorsOf(markdown: string): string[] {
  const slugOf = createSlugs();
  const text = markdown.replaceAll(/^ *```[^]*?^ *```/gm, "");
  return [...text.matchAll(/^#{1,6} (.*)$/gm)].map(([, heading]) => slugOf(heading!));
}

const list = await get("/llms.txt");
const GUIDES = linksOf(list.text).filter((path) => path.startsWith("/docs/"));

test("llms.txt lists every document, one per line", async () => {
  const page = await service.request("/docs");
  const [, navigation] = /<nav id="navigation"[^>]*>(.*?)<\/nav>/s.exec(page.text)!;
  const pages = [...navigation!.matchAll(/href="([^"]+)"/g)].map(([, path]) => path!);
  const shown = pages.filter((path) => path !== "/docs/api");
  expect(GUIDES).toEqual(shown.map((path) => (path === "/docs" ? "/docs/index.md" : `${path}.md`)));
  const lines = list.text.split("\n").filter((line) => line.startsWith("- "));
  expect(lines.filter((line) => !/^- \[[^\]]+\]\(\/[\w./-]+\): \S.{15,160}$/.test(line))).toEqual([]);
  expect(list.text).toMatch(/^# Shipment booking\n\n> .+\n\n.+\n\n## Guides\n\n- /);
});

test("llms.txt is sent with the same headers as the pages", async () => {
  const page = await get("/docs");
  const common = (headers: Record<string, string>) => {
    const { etag, date, ...rest } = headers;
    return {
      ...rest,
      etag: typeof etag,
      date: typeof date,
      "content-length": "",
      "x-request-id": "",
    };
  };
  const expected = common(page.headers);
  const type = (name: string) => ({ ...expected, "content-type": `text/${name}; charset=utf-8` });
  expect(common(list.headers)).toEqual(type("plain"));
  expect(common((await get("/docs/clients.md")).headers)).toEqual(type("markdown"));
});

test("does not send a document again to a caller that has it", async () => {
  const { etag } = (await get("/docs/clients.md")).headers;
  const again = await service.request("/docs/clients.md", { headers: { "if-none-match": etag! } });
  expect({ status: again.status, text: again.text }).toEqual({ status: 304, text: "" });
});

describe.each(["/llms.txt", ...GUIDES])("%s", (path) => {
  test("has no broken links", async () => {
    const { text } = await get(path);
    const links = linksOf(text).map((link) => new URL(link, `http://here${path}`));
    const broken: string[] = [];
    for (const { origin, pathname, hash } of links.filter((it) => it.origin === "http://here")) {
      const target = await get(pathname);
      const anchor = decodeURIComponent(hash.slice(1));
      const hasAnchor = hash === "" || anchorsOf(target.text).includes(anchor);
      if (target.status !== 200 || !hasAnchor) broken.push(`${origin}${pathname}${hash}`);
    }
    expect(broken).toEqual([]);
  });
});

test.each(GUIDES)("%s has the text of its file, with other addresses", async (path) => {
  const name = basename(path);
  const files = { "index.md": "README.md", "changelog.md": "CHANGELOG.md" };
  const file = files[name as keyof typeof files] ?? `src/docs/${name}`;
  const { text } = await get(path);
  const withoutAddresses = (markdown: string) =>
    markdown
      .replaceAll(/^( *```\w+).*$/gm, "$1")
      .replaceAll(/!?\[([^\]]+)\]\([^)\s]+\)/g, "$1")
      .replaceAll(/ \(in the repository: [^)]+\)/g, "")
      .replaceAll("https://book.example.org", "http://127.0.0.1:8080");
  expect(withoutAddresses(text)).toBe(withoutAddresses(readFileSync(file, "utf8")));
  expect(text.match(/^ *```[^]*?^ *```/gm)?.join("\n") ?? "").not.toContain("127.0.0.1:8080");
});
