import { prefersPage } from "./browser-page.ts";
import { ASSETS, createStaticFiles, type ChosenFile, type StaticFiles } from "./static-files.ts";

const ROOT = "/docs";
const PAGE = /^\/[a-z][a-z0-9-]*$/;
const NOT_FOUND: ChosenFile = { file: "/404.html", status: 404, byAccept: true };

/**
 * Serves the documents out of the folder they were built into: `/docs` is `index.html` and
 * `/docs/clients` is `clients.html`, for programs as well as for browsers. At a path below `/docs`
 * that is no document, browsers get `404.html` with that status.
 */
export function createDocsFiles(folder: string): StaticFiles {
  return createStaticFiles(folder, (path, request) => {
    if (path !== ROOT && !path.startsWith(`${ROOT}/`)) return [];
    const document = documentAt(path.slice(ROOT.length).replace(/\/$/, ""));
    return [...document, ...(prefersPage(request) ? [NOT_FOUND] : [])];
  });
}

function documentAt(path: string): readonly ChosenFile[] {
  if (path === "") return [{ file: "/index.html" }];
  if (path.startsWith(ASSETS)) return [{ file: path }];
  return PAGE.test(path) ? [{ file: `${path}.html` }] : [];
}
