import { defineConfig } from "vite";
import { compressFiles } from "./build/compress-files.ts";
import { leaveOutJson } from "./build/leave-out-json.ts";
import { slimDescriptors } from "./build/slim-descriptors.ts";

export default defineConfig({
  // These JSX settings also apply to test builds.
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
      output: {
        codeSplitting: {
          groups: [
            // Code shared by most pages goes into one file, which compresses better and needs one request.
            { name: "shared", minShareCount: 14 },
            // So do small parts of lists, which pages load together.
            { name: "shipments", test: /src.dashboard.shipments/, minShareCount: 6 },
            { name: "filters", test: /dashboard.ui.(filters|filter-chips|days)/, minShareCount: 2 },
          ],
        },
      },
    },
    // Never inline assets, because data URLs need a more permissive content security policy.
    assetsInlineLimit: 0,
  },
});
