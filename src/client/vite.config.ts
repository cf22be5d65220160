import { defineConfig } from "vite";
import { declareTypes } from "./build/declare-types.ts";
import { slimDefinitions } from "./build/slim-definitions.ts";

// Bundles the client and its definitions into one file that bundlers can tree-shake. Connect and
// Protobuf remain separate packages.
export default defineConfig({
  plugins: [slimDefinitions(), declareTypes(import.meta.dirname)],
  logLevel: "warn",
  build: {
    outDir: "built",
    emptyOutDir: true,
    target: "es2022",
    minify: false,
    reportCompressedSize: false,
    rolldownOptions: {
      input: "client.ts",
      preserveEntrySignatures: "strict",
      external: /^@(bufbuild|connectrpc)\//,
      output: { entryFileNames: "[name].js" },
      checks: { bundlerTimings: false },
    },
  },
});
