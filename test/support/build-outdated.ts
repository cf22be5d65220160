import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url));
const BUILT = "built";

/** Sources of the documents outside the documents' own folder. */
const DOCUMENTS = [
  "README.md",
  "CHANGELOG.md",
  "src/docs",
  "gen/openapi/openapi.json",
  "LICENSE",
  "buf.yaml",
  "proto",
  "src/dashboard/base.css",
  "src/dashboard/theme.css",
  "src/dashboard/shell/layout.css",
  "src/dashboard/ui/copy-text.ts",
];

/** Folders of `src` that are not part of the program, except for the search of the guides. */
const SEPARATE = ["client", "courier", "dashboard", "docs", "docs-pages"];

/** Sources of the program outside of `src`, and in `SEPARATE`. */
const PROGRAM = ["gen", "package.json", "src/docs-pages/build/links.ts", "src/docs-pages/search-options.ts"];

/** Builds the program, client, dashboard and documents if a source is newer than the last build. */
export async function buildOutdated(): Promise<void> {
  await buildIfNew("src", "program.js", PROGRAM, SEPARATE);
  await buildIfNew("src/client", "client.js", ["gen/shipments"]);
  await buildIfNew("src/courier", "index.html", []);
  await buildIfNew("src/dashboard", "index.html", []);
  await buildIfNew("src/docs-pages", "index.html", DOCUMENTS);
}

async function buildIfNew(
  folder: string,
  entry: string,
  sources: readonly string[],
  separate: readonly string[] = [],
): Promise<void> {
  const root = join(REPOSITORY, folder);
  const built = join(root, BUILT, entry);
  const builtMs = existsSync(built) ? statSync(built).mtimeMs : 0;
  const own = readdirSync(root)
    .filter((name) => name !== BUILT && !separate.includes(name))
    .map((name) => join(folder, name));
  const isNew = (path: string) => newestMs(join(REPOSITORY, path)) > builtMs;
  if ([...own, ...sources].some(isNew)) await build({ root, mode: "production" });
}

/** Returns the last modification time of a file, or of the files in a folder. */
function newestMs(path: string): number {
  const stats = statSync(path);
  if (!stats.isDirectory()) return stats.mtimeMs;
  const names = readdirSync(path, { recursive: true, encoding: "utf8" });
  return Math.max(...names.map((name) => statSync(join(path, name)).mtimeMs));
}
