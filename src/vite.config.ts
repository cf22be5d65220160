import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vite";

const BUILT = fileURLToPath(new URL("built", import.meta.url));
const LIST = "files.json";

// Puts the program and the packages it needs into a few files, in `built`. Loaded one by one, the
// 1,500 files they come from take half a second and 40 MiB more.
export default defineConfig({
  plugins: [removeOutdated()],
  logLevel: "warn",
  ssr: { noExternal: true },
  build: {
    ssr: true,
    outDir: "built",
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
      output: {
        entryFileNames: "[name].js",
        chunkFileNames: "[name]-[hash].js",
        comments: false,
        // A clone has the sources themselves, and what installs the package no room for them.
        sourcemapExcludeSources: true,
      },
      // How long plugins took says nothing on a busy machine.
      checks: { bundlerTimings: false },
    },
  },
});

/** Keeps what the build before has made, which a running service may still load, and removes what is older. */
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
