import { defineConfig } from "vite";
import { compressFiles } from "../dashboard/build/compress-files.ts";
import { serviceWorker } from "./build/service-worker.ts";

export default defineConfig({
  base: "/c/",
  // These JSX settings also apply to test builds.
  oxc: { jsx: { runtime: "automatic", importSource: "preact", development: false } },
  plugins: [serviceWorker("sw.ts"), compressFiles()],
  logLevel: "warn",
  build: {
    outDir: "built",
    emptyOutDir: true,
    // Couriers bring their own phones, and many are a few years old.
    target: "es2022",
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // Plugin durations are meaningless on a busy machine.
    rolldownOptions: { checks: { bundlerTimings: false } },
    // Never inline assets, because data URLs need a more permissive content security policy.
    assetsInlineLimit: 0,
  },
});
