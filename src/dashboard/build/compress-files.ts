import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { Plugin } from "vite";

/** Minimum size of a large file, in bytes. Brotli's best level would take seconds to save 10 %. */
const LARGE = 100_000;

/** Creates a plugin that writes Brotli and gzip versions of each built file. */
export function compressFiles(): Plugin {
  return {
    name: "compress-files",
    writeBundle({ dir }) {
      for (const name of readdirSync(dir!, { recursive: true, encoding: "utf8" })) {
        if (/\.(js|css|html|svg|json|md|txt)$/.test(name)) compress(join(dir!, name));
      }
    },
  };
}

function compress(path: string): void {
  const content = readFileSync(path);
  const params = {
    [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
    [constants.BROTLI_PARAM_QUALITY]: content.length < LARGE ? 11 : 9,
  };
  writeFileSync(`${path}.br`, brotliCompressSync(content, { params }));
  writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }));
}
