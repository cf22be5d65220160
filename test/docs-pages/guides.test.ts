import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { sharedService } from "../support/service.ts";

const FILES = readdirSync("src/docs").filter((name) => name.endsWith(".md"));
const PATHS = [
  "/docs",
  ...FILES.map((name) => `/docs/${name.slice(0, -".md".length)}`),
  "/docs/changelog",
  "/docs/api",
];

const AS_PAGE = { headers: { accept: "text/html" } };

interface FetchedPage {
  readonly status: number;
  readonly html: string;
  readonly ids: ReadonlySet<string>;
  /** URLs of links, pictures, scripts and styles. */
  readonly leadsTo: readonly string[];
}

const fetched = new Map<string, Promise<FetchedPage>>();

const service = await sharedService();

function get(path: string): Promise<FetchedPage> {
  const known = fetched.get(path);
  if (known !== undefined) return known;
  const page = service.request(path, AS_PAGE).then(({ status, text }) => ({
    status,
    html: text,
    ids: new Set(valuesOf(text, /\sid="([^"]*)"/g)),
    leadsTo: valuesOf(text, /\s(?:href|src)="([^"]*)"/g),
  }));
  fetched.set(path, page);
  return page;
}

function valuesOf(html: string, pattern: RegExp): string[] {
  return [...html.matchAll(pattern)].map(([, value]) => value!);
}

/** Describes what is wrong with a link. `undefined` if its target exists. */
async function brokenLink(address: string, from: string): Promise<string | undefined> {
  const { origin, pathname, hash } = new URL(address, `http://here${from}`);
  if (origin !== "http://here") return undefined;
  const target = await get(pathname);
  if (target.status !== 200) return `${address} answers ${target.status}`;
  // swagger-ui resolves the anchors of its own page.
  if (hash === "" || hash.startsWith("#/")) return undefined;
  return target.ids.has(decodeURIComponent(hash.slice(1))) ? undefined : `${address} has no anchor`;
}

async function brokenLinks(addresses: readonly string[], from: string): Promise<string[]> {
  const found = await Promise.all([...new Set(addresses)].map((it) => brokenLink(it, from)));
  return found.filter((it) => it !== undefined);
}

describe.each(PATHS)("%s", (path) => {
  test("returns the same page to programs and browsers, with its own title and description", async () => {
    const answers = await Promise.all(
      ["*/*", "application/json", "text/html"].map((accept) => service.request(path, { headers: { accept } })),
    );
    expect(answers.map(({ status, text }) => ({ status, text }))).toEqual(
      answers.map(() => ({ status: 200, text: answers[0]!.text })),
    );
    const [title] = valuesOf(answers[0]!.text, /<title>(.*)<\/title>/g);
    const [heading] = valuesOf(answers[0]!.text, /<h1[^>]*>(.*)<\/h1>/g);
    expect(title).toBe(path === "/docs" ? heading : `${heading} · Shipments`);
    const [description] = valuesOf(answers[0]!.text, /<meta name="description" content="(.*)">/g);
    expect(description).toMatch(/^.{20,160}$/);
  });

  test("has no broken links", async () => {
    const { leadsTo } = await get(path);
    expect(await brokenLinks(leadsTo, path)).toEqual([]);
  });

  test("names only files that are in the repository", async () => {
    const { html } = await get(path);
    const files = valuesOf(html, /title="In the service's repository: ([^"]*)"/g);
    expect(files.filter((file) => !existsSync(file))).toEqual([]);
  });

  test("is in the navigation of the first page", async () => {
    const { html } = await get("/docs");
    const [, navigation] = /<nav id="navigation"[^>]*>(.*?)<\/nav>/s.exec(html)!;
    expect(navigation).toContain(`href="${path}"`);
  });
});

test.each(FILES)("every heading of %s has an anchor in its page", async (name) => {
  const markdown = readFileSync(`src/docs/${name}`, "utf8").replaceAll(/^```.*?^```/gms, "");
  const count = markdown.match(/^#{1,6} /gm)?.length;
  const { html } = await get(`/docs/${name.slice(0, -".md".length)}`);
  const [, article] = /<article>(.*)<\/article>/s.exec(html)!;
  expect(valuesOf(article!, /<h[1-6] id="([^"]+)"/g).length).toBe(count);
});

test("search results have no broken links", async () => {
  const { html } = await get("/docs");
  const [address] = valuesOf(html, /data-index="([^"]*)"/g);
  const { body } = await service.request(address!);
  const links: string[] = Object.values(body.documentIds);
  expect(links.length).toBeGreaterThan(100);
  expect(await brokenLinks(links, "/docs")).toEqual([]);
});

test("alerts link to sections of the guides", async () => {
  const alerts = readFileSync("src/deploy/monitoring/alerts.yaml", "utf8");
  const links = valuesOf(alerts, /runbook_url: https:\/\/book\.example\.org(\S+#\S+)$/gm);
  expect(links.length).toBe(alerts.match(/- alert: /g)!.length);
  expect(await brokenLinks(links, "/docs")).toEqual([]);
});

test("the reference starts with shipments, also without scripts", async () => {
  const { html } = await get("/docs/api");
  expect(/<div class="operations">\s*<h2>(.*?)<\/h2>/.exec(html)?.[1]).toBe("ShipmentService");
});

test("an unknown document returns an HTML page to browsers and JSON to programs", async () => {
  const browser = await service.request("/docs/nothing", AS_PAGE);
  expect(browser.status).toBe(404);
  expect(browser.text).toContain("<h1>Page not found</h1>");
  const program = await service.request("/docs/nothing");
  expect({ status: program.status, body: program.body }).toEqual({
    status: 404,
    body: { message: "This path does not exist.", errors: {} },
  });
});

test("the start page without a dashboard links to the documentation", async () => {
  const { text } = await service.request("/", AS_PAGE);
  expect(await brokenLinks(valuesOf(text, /href="([^"]*)"/g), "/")).toEqual([]);
  expect(text).toContain('href="/docs"');
  expect(text).toContain('href="/docs/api"');
});
