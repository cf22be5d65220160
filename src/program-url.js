import { existsSync, readFileSync, statSync } from "node:fs";

const BUILT = new URL("built/program.js", import.meta.url);
const SOURCES = new URL("commands/program.ts", import.meta.url);

/**
 * Where the program is: in `built`, as `npm run build` has made it, or in its sources, when one of
 * them is not as it was then or nothing is built.
 */
export function programUrl() {
  // A container's image has no sources.
  const isBuilt = !existsSync(SOURCES) || areSourcesAsBuilt();
  return (isBuilt ? BUILT : SOURCES).href;
}

function areSourcesAsBuilt() {
  const list = new URL("built/sources.json", import.meta.url);
  if (!existsSync(list)) return false;
  const { sources } = JSON.parse(readFileSync(list, "utf8"));
  return Object.entries(sources).every(([path, [changedMs, bytes]]) => {
    const found = statSync(new URL(`../${path}`, import.meta.url), { throwIfNoEntry: false });
    return found?.mtimeMs === changedMs && found.size === bytes;
  });
}
