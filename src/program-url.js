import { readFileSync, statSync } from "node:fs";

/**
 * Where the program is: in `built`, as `npm run build` has made it, or in the sources, when one of
 * them has changed since or nothing is built.
 */
export function programUrl() {
  const path = isBuilt() ? "built/program.js" : "commands/program.ts";
  return new URL(path, import.meta.url).href;
}

function isBuilt() {
  const { startedMs, paths } = readSources();
  return paths.every((path) => changedMs(path) < startedMs);
}

/** Without a list, everything is newer. */
function readSources() {
  try {
    return JSON.parse(readFileSync(new URL("built/sources.json", import.meta.url), "utf8"));
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
    return { startedMs: 0, paths: ["package.json"] };
  }
}

/** When a file was changed; never, when it is gone, as all are from a container's image. */
function changedMs(path) {
  const stats = statSync(new URL(`../${path}`, import.meta.url), { throwIfNoEntry: false });
  return stats?.mtimeMs ?? 0;
}
