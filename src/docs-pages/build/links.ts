import { basename, posix } from "node:path";

export const GUIDES = "src/docs";
/** Path of the file that becomes the first page. */
export const START = "README.md";
export const CHANGELOG = "CHANGELOG.md";

export const ROOT = "/docs";
export const API_PAGE = `${ROOT}/api`;

/** Repository files that the server serves on special paths. */
const SERVED: Readonly<Record<string, string>> = {
  [START]: ROOT,
  [CHANGELOG]: `${ROOT}/changelog`,
  "gen/openapi/openapi.json": "/openapi.json",
};

/** Target of a link: a URL, or a repository file that is not served. */
export type LinkTarget = { readonly href: string } | { readonly file: string };

/** Returns the server path of a repository file. `undefined` if the file is not served. */
export function pathOf(file: string): string | undefined {
  if (Object.hasOwn(SERVED, file)) return SERVED[file];
  if (posix.dirname(file) !== GUIDES || !file.endsWith(".md")) return undefined;
  return `${ROOT}/${basename(file, ".md")}`;
}

/** Returns the Markdown URL for the URL of a guide. Returns other URLs unchanged. */
export function markdownPathOf(href: string): string {
  const [path = "", hash] = href.split("#", 2);
  const [, name] = /^\/docs\/([\w-]+)$/.exec(path === ROOT ? `${ROOT}/index` : path) ?? [];
  if (name === undefined || path === API_PAGE) return href;
  return hash === undefined ? `${ROOT}/${name}.md` : `${ROOT}/${name}.md#${hash}`;
}

/** Resolves a link in the repository file with path `from`. */
export function resolveLink(link: string, from: string): LinkTarget {
  if (/^([a-z][a-z0-9+.-]*:|#|\/)/i.test(link)) return { href: link };
  const [path = "", hash] = link.split("#", 2);
  const file = posix.normalize(posix.join(posix.dirname(from), path)).replace(/\/$/, "");
  const served = pathOf(file);
  if (served === undefined) return { file };
  return { href: hash === undefined ? served : `${served}#${hash}` };
}

/** Creates anchors for headings, as GitHub does. Repeated headings get a number. */
export function createSlugs(): (heading: string) => string {
  const used = new Map<string, number>();
  return (heading) => {
    const slug = heading
      .trim()
      .toLowerCase()
      .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, "")
      .replaceAll(" ", "-");
    const before = used.get(slug);
    used.set(slug, (before ?? 0) + 1);
    return before === undefined ? slug : `${slug}-${before}`;
  };
}
