import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { createRequire } from "node:module";
import type { Plugin, Rolldown } from "vite";
import { apiHtml, type ApiDocument } from "./api-html.ts";
import { guideHtml } from "./guide-html.ts";
import type { Picture } from "./guide-source.ts";
import { readGuides, type Guides } from "./guides.ts";
import { llmsTxt } from "./llms-txt.ts";
import { pageHtml, type Assets, type Link, type Navigation } from "./page-html.ts";
import { API_PAGE, markdownPathOf, ROOT } from "./links.ts";
import { protoArchive } from "./proto-archive.ts";
import type { Guide } from "./render-guide.ts";
import { searchIndex } from "./search-index.ts";

type Bundle = Rolldown.OutputBundle;

/** Adds an asset and returns its URL path. */
type AddAsset = (name: string, source: string | Buffer) => string;

/** Rules for crawlers. Documents are public, and other pages require a key or session. */
const ROBOTS = `User-agent: *
Allow: /docs
Allow: /llms.txt
Disallow: /
`;

/** Creates all pages, the search index, their assets, and the server's top-level files. */
export function docsPages(repository: string): Plugin {
  return {
    name: "docs-pages",
    async generateBundle(_, bundle) {
      const add: AddAsset = (name, source) =>
        `${ROOT}/${this.getFileName(this.emitFile({ type: "asset", name, source }))}`;
      for (const [fileName, source] of await makePages(repository, bundle, add)) {
        this.emitFile({ type: "asset", fileName, source });
      }
    },
  };
}

async function makePages(repository: string, bundle: Bundle, add: AddAsset): Promise<Map<string, string | Buffer>> {
  const api = JSON.parse(readFileSync(join(repository, "gen/openapi/openapi.json"), "utf8")) as ApiDocument;
  const read = readGuides(repository, (file) => addPicture(repository, file, add));
  const navigation = navigationOf(read);
  const icon = readFileSync(join(repository, "src/dashboard/shell/icon.svg"));
  const assets = {
    icon: add("icon.svg", icon),
    searchIndex: add("search.json", searchIndex(read.guides, api)),
    ...builtFor("guide", bundle),
  };
  return new Map<string, string | Buffer>([
    ...guidePages(read, navigation, assets),
    ...[...read.guides, read.changelog].map(markdownFile),
    ["api.html", apiPage(api, navigation, { assets, bundle, add })],
    ["404.html", pageHtml(NOT_FOUND, navigation, assets)],
    ["favicon.svg", icon],
    ["llms.txt", llmsTxt(read)],
    ["protos.tgz", await protoArchive(repository)],
    ["robots.txt", ROBOTS],
  ]);
}

const NOT_FOUND = {
  title: "Page not found",
  description: "There is no document at this path.",
  main: `<div class="guide"><article>
<h1>Page not found</h1>
<p>This path has no documentation. Search above, or begin at <a href="${ROOT}">the start</a>.</p>
</article></div>`,
};

function navigationOf({ guides, changelog }: Guides): Navigation {
  const [, ...others] = guides.map(linkTo);
  const reference = [{ href: API_PAGE, text: "API reference" }, linkTo(changelog)];
  return [
    { heading: "Guides", links: [{ href: ROOT, text: "First steps" }, ...others] },
    { heading: "Reference", links: reference },
  ];
}

function linkTo({ path, title }: Guide): Link {
  return { href: path, text: title };
}

function guidePages({ guides, changelog }: Guides, navigation: Navigation, assets: Assets) {
  const links = navigation[0]!.links;
  const page = (guide: Guide, index: number): [fileName: string, html: string] => {
    const main = guideHtml(guide, links[index - 1], links[index + 1]);
    const name = basename(markdownPathOf(guide.path), ".md");
    return [`${name}.html`, pageHtml({ ...guide, main }, navigation, assets)];
  };
  return [...guides.map(page), page(changelog, Infinity)];
}

function markdownFile({ path, markdown }: Guide): [fileName: string, markdown: string] {
  return [basename(markdownPathOf(path)), markdown];
}

function apiPage(
  api: ApiDocument,
  navigation: Navigation,
  { assets, bundle, add }: { assets: Assets; bundle: Bundle; add: AddAsset },
): string {
  const own = builtFor("api", bundle);
  const page = {
    path: API_PAGE,
    title: "API reference",
    description: "All operations of the JSON API, with a form to try them.",
    main: apiHtml(api),
    plainScripts: [addSwagger("swagger-ui-bundle.js", add)],
  };
  return pageHtml(page, navigation, {
    ...assets,
    styles: [addSwagger("swagger-ui.css", add), ...assets.styles, ...own.styles],
    scripts: [...assets.scripts, ...own.scripts],
  });
}

/** Adds a file of swagger-ui without its source map URL. */
function addSwagger(name: string, add: AddAsset): string {
  const file = createRequire(import.meta.url).resolve(`swagger-ui-dist/${name}`);
  return add(name, readFileSync(file, "utf8").replace(/\n?(\/\/|\/\*)# sourceMappingURL=.*$/s, ""));
}

function builtFor(entry: string, bundle: Bundle): Pick<Assets, "styles" | "scripts"> {
  const chunk = Object.values(bundle).find((it) => it.type === "chunk" && it.name === entry);
  if (chunk?.type !== "chunk") throw new Error(`no chunk was built from ${entry}`);
  const styles = [...(chunk.viteMetadata?.importedCss ?? [])];
  return { scripts: [`${ROOT}/${chunk.fileName}`], styles: styles.map((it) => `${ROOT}/${it}`) };
}

function addPicture(repository: string, file: string, add: AddAsset): Picture {
  const content = readFileSync(join(repository, file));
  const size = file.endsWith(".svg") ? svgSize(content) : pngSize(content);
  return { src: add(basename(file), content), ...size };
}

function svgSize(content: Buffer): Pick<Picture, "width" | "height"> {
  const [, width, height] = /^<svg [^>]*?width="(\d+)" height="(\d+)"/.exec(content.toString())!;
  return { width: Number(width), height: Number(height) };
}

/** Reads the size in a PNG header (PNG specification, 11.2.1). */
function pngSize(content: Buffer): Pick<Picture, "width" | "height"> {
  return { width: content.readUInt32BE(16), height: content.readUInt32BE(20) };
}
