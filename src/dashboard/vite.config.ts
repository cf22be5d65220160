import { defineConfig } from "vite";
import { compressFiles } from "./build/compress-files.ts";
import { leaveOutJson } from "./build/leave-out-json.ts";
import { slimDescriptors } from "./build/slim-descriptors.ts";

export default defineConfig({
  // Also where tests build it.
  oxc: { jsx: { runtime: "automatic", importSource: "preact", development: false } },
  plugins: [leaveOutJson(), slimDescriptors(), compressFiles()],
  logLevel: "warn",
  build: {
    outDir: "built",
    emptyOutDir: true,
    target: "es2023",
    modulePreload: { polyfill: false },
    // One stylesheet, so that no page waits for its own.
    cssCodeSplit: false,
    reportCompressedSize: false,
    rolldownOptions: {
      // How long plugins took says nothing on a busy machine.
      checks: { bundlerTimings: false },
      // What most pages share is one file: it compresses better, and is asked for once.
      output: { codeSplitting: { groups: [{ name: "shared", minShareCount: 13 }] } },
    },
    // Data addresses would need a wider policy than the server's.
    assetsInlineLimit: 0,
  },
});
