import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { Plugin } from "vite";

/** From this size on, in bytes, Brotli's best takes seconds for a tenth less. */
const LARGE = 100_000;

/** Writes each file that was built a second and third time beside it, by Brotli and by gzip. */
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
