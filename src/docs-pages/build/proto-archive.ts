import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { packTar } from "modern-tar";

/**
 * Returns the definitions as a `tar` archive compressed with gzip. They are in the folder `proto`.
 * `buf` accepts the archive directly. Its files have no time, so that archives are reproducible.
 */
export async function protoArchive(repository: string): Promise<Buffer> {
  const protos = readdirSync(join(repository, "proto"), { recursive: true, encoding: "utf8" });
  const names = ["LICENSE", "buf.yaml", ...protos.filter((it) => it.endsWith(".proto")).map((it) => `proto/${it}`)];
  const entries = names.toSorted().map((name) => {
    const body = readFileSync(join(repository, name));
    return { header: { name, size: body.length, mtime: new Date(0) }, body };
  });
  return gzipSync(await packTar(entries), { level: 9 });
}
