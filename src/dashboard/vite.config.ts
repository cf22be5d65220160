import { defineConfig } from "vite";
import { compressFiles } from "./build/compress-files.ts";
import { leaveOutJson } from "./build/leave-out-json.ts";
import { slimDescriptors } from "./build/slim-descriptors.ts";

export default defineConfig({
  // Also used by test builds.
  oxc: { jsx: { runtime: "automatic", importSource: "preact", development: false } },
  plugins: [leaveOutJson(), slimDescriptors(), compressFiles()],
  logLevel: "warn",
  build: {
    outDir: "built",
    emptyOutDir: true,
    target: "es2023",
    modulePreload: { polyfill: false },
    // A single stylesheet, so that no page waits for another one.
    cssCodeSplit: false,
    reportCompressedSize: false,
    rolldownOptions: {
      // Plugin durations are meaningless on a busy machine.
      checks: { bundlerTimings: false },
      // Code shared by most pages is one file, which compresses better and is requested once.
      output: { codeSplitting: { groups: [{ name: "shared", minShareCount: 13 }] } },
    },
    // Data URLs would need a more permissive policy than the server's.
    assetsInlineLimit: 0,
  },
});
