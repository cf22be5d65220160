import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";
import { compressFiles } from "../dashboard/build/compress-files.ts";
import { docsPages } from "./build/docs-pages.ts";

const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url));

export default defineConfig({
  base: "/docs/",
  plugins: [docsPages(REPOSITORY), compressFiles()],
  logLevel: "warn",
  build: {
    outDir: "built",
    emptyOutDir: true,
    target: "es2023",
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      input: { guide: "browser/guide.ts", api: "browser/api.ts" },
      // Plugin timings are meaningless on a busy machine.
      checks: { bundlerTimings: false },
    },
    // Data URLs would need a less strict policy than the server's.
    assetsInlineLimit: 0,
  },
});
