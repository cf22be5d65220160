import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vite";

const BUILT = fileURLToPath(new URL("built", import.meta.url));
const LIST = "files.json";

// Bundles the program and its packages into a few files in `built`. Loading 1,500 source files
// separately takes half a second longer and 40 MiB more memory.
export default defineConfig({
  plugins: [removeOutdated()],
  logLevel: "warn",
  ssr: { noExternal: true },
  build: {
    ssr: true,
    outDir: "built",
    emptyOutDir: false,
    target: "esnext",
    // Source maps are for stack traces with NODE_OPTIONS=--enable-source-maps.
    sourcemap: true,
    // Writes the licenses of bundled packages.
    license: { fileName: "licenses.md" },
    reportCompressedSize: false,
    rolldownOptions: {
      input: {
        program: "commands/program.ts",
        "tariff-worker": "features/tariffs/tasks/tariff-worker.ts",
      },
      // All files are in one folder, so that code that looks for files relative to its own location finds them.
      output: {
        entryFileNames: "[name].js",
        chunkFileNames: "[name]-[hash].js",
        comments: false,
        // Source maps need no sources, because a clone has them and the package omits them.
        sourcemapExcludeSources: true,
      },
      // Plugin timings are meaningless on a busy machine.
      checks: { bundlerTimings: false },
    },
  },
});

/** Keeps the previous build, which a running service may still load, and removes older builds. */
function removeOutdated(): Plugin {
  let before: readonly string[] = [];
  return {
    name: "remove-outdated",
    buildStart() {
      const list = join(BUILT, LIST);
      if (existsSync(list)) before = JSON.parse(readFileSync(list, "utf8"));
    },
    generateBundle(_options, bundle) {
      this.emitFile({ type: "asset", fileName: LIST, source: JSON.stringify(Object.keys(bundle)) });
    },
    writeBundle(_options, bundle) {
      const kept = new Set([...Object.keys(bundle), ...before]);
      const outdated = readdirSync(BUILT).filter((name) => !kept.has(name.replace(/\.map$/, "")));
      for (const name of outdated) rmSync(join(BUILT, name), { recursive: true });
    },
  };
}
