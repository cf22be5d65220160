import { existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vite";

const REPOSITORY = fileURLToPath(new URL("..", import.meta.url));
const BUILT = fileURLToPath(new URL("built", import.meta.url));
const LIST = join(BUILT, "sources.json");

// Puts the program and the packages it needs into a few files, in `built`. Loaded one by one, the
// 1,500 files they come from take half a second and 40 MiB more.
export default defineConfig({
  plugins: [listFiles()],
  logLevel: "warn",
  ssr: { noExternal: true },
  build: {
    ssr: true,
    outDir: "built",
    // A service may run from it, and load more of it later.
    emptyOutDir: false,
    target: "esnext",
    // For stack traces, where Node is told to read them: NODE_OPTIONS=--enable-source-maps.
    sourcemap: true,
    // What the packages ask of whoever passes them on.
    license: { fileName: "licenses.md" },
    reportCompressedSize: false,
    rolldownOptions: {
      input: {
        program: "commands/program.ts",
        "tariff-worker": "features/tariffs/tasks/tariff-worker.ts",
      },
      // No folders: code that looks for a file beside its own, or in another room, finds it.
      output: { entryFileNames: "[name].js", chunkFileNames: "[name]-[hash].js", comments: false },
      // How long plugins took says nothing on a busy machine.
      checks: { bundlerTimings: false },
    },
  },
});

/**
 * Adds `sources.json`, by which `program-url.js` tells whether the sources are as they were built. It
 * also lists what was built, so that the next build keeps that, for a service that may run from it, and
 * removes what is older.
 */
function listFiles(): Plugin {
  const sources: Record<string, Stamp> = {};
  let before: readonly string[] = [];
  return {
    name: "list-files",
    buildStart() {
      if (existsSync(LIST)) before = JSON.parse(readFileSync(LIST, "utf8")).built;
    },
    load(id) {
      const path = relative(REPOSITORY, id).split(sep).join("/");
      // Before it is read: what changes while it is built counts as changed.
      if (/^(src|gen)\/|^package\.json$/.test(path)) sources[path] = stampOf(id);
    },
    generateBundle(_options, bundle) {
      // In place of the packages.
      sources["package-lock.json"] = stampOf(join(REPOSITORY, "package-lock.json"));
      const source = JSON.stringify({ sources, built: Object.keys(bundle) });
      this.emitFile({ type: "asset", fileName: "sources.json", source });
    },
    writeBundle(_options, bundle) {
      const kept = new Set([...Object.keys(bundle), ...before]);
      const outdated = readdirSync(BUILT).filter((name) => !kept.has(name.replace(/\.map$/, "")));
      for (const name of outdated) rmSync(join(BUILT, name), { recursive: true });
    },
  };
}

/** When a file was changed, in milliseconds, and its size in bytes. */
type Stamp = readonly [changedMs: number, bytes: number];

function stampOf(path: string): Stamp {
  const { mtimeMs, size } = statSync(path);
  return [mtimeMs, size];
}
