import { prefersPage } from "./browser-page.ts";
import { ASSETS, createStaticFiles, type StaticFiles } from "./static-files.ts";

/** Paths of the JSON API, whose 404 is its own: `/v1/`, `/admin/v1/` and the like. */
const API_PATH = /^\/([a-z]+\/)?v\d+\//;

/**
 * Serves the dashboard out of the folder it was built into: files below `/assets/`; every other path
 * that a browser asks for as a page is given `index.html`, which then shows the page of that path.
 */
export function createDashboardFiles(folder: string): StaticFiles {
  return createStaticFiles(folder, (path, request) => {
    if (path.startsWith(ASSETS)) return [{ file: path }];
    if (API_PATH.test(path) || !prefersPage(request)) return [];
    return [{ file: "/index.html", byAccept: true }];
  });
}
