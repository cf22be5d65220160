import { defineConfig } from "vite";
import { declareTypes } from "./build/declare-types.ts";
import { slimDefinitions } from "./build/slim-definitions.ts";

// Puts the client and its definitions into one file, which bundlers take apart again; Connect and
// Protobuf stay packages of their own.
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
