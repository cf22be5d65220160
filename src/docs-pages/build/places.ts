import { basename, posix } from "node:path";

export const GUIDES = "src/docs";
/** The file that is the first page. */
export const START = "README.md";
export const CHANGELOG = "CHANGELOG.md";

export const ROOT = "/docs";
export const API_PAGE = `${ROOT}/api`;

/** Files of the repository that the server has at a path of its own. */
const SERVED: Readonly<Record<string, string>> = {
  [START]: ROOT,
  [CHANGELOG]: `${ROOT}/changelog`,
  "gen/openapi/openapi.json": "/openapi.json",
};

/** Where a link leads: an address, or a file of the repository that the server does not have. */
export type LinkTarget = { readonly href: string } | { readonly file: string };

/** The path at which a file of the repository is served; undefined when it is not. */
export function pathOf(file: string): string | undefined {
  if (Object.hasOwn(SERVED, file)) return SERVED[file];
  if (posix.dirname(file) !== GUIDES || !file.endsWith(".md")) return undefined;
  return `${ROOT}/${basename(file, ".md")}`;
}

/** The address of a guide in Markdown, by that of its page; any other address stays as it is. */
export function markdownPathOf(href: string): string {
  const [path = "", hash] = href.split("#", 2);
  const [, name] = /^\/docs\/([\w-]+)$/.exec(path === ROOT ? `${ROOT}/index` : path) ?? [];
  if (name === undefined || path === API_PAGE) return href;
  return hash === undefined ? `${ROOT}/${name}.md` : `${ROOT}/${name}.md#${hash}`;
}

/** Resolves a link as it is written in a file of the repository, whose path there is `from`. */
export function resolveLink(link: string, from: string): LinkTarget {
  if (/^([a-z][a-z0-9+.-]*:|#|\/)/i.test(link)) return { href: link };
  const [path = "", hash] = link.split("#", 2);
  const file = posix.normalize(posix.join(posix.dirname(from), path)).replace(/\/$/, "");
  const served = pathOf(file);
  if (served === undefined) return { file };
  return { href: hash === undefined ? served : `${served}#${hash}` };
}

/** Makes anchors of headings as GitHub does; a text that comes again in a document is numbered. */
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
