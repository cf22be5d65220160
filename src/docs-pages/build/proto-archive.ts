import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

/** Block size in bytes. A header is one block, and files are padded to whole blocks. */
const BLOCK = 512;

/**
 * Returns the definitions as a `tar` archive compressed with gzip. They are in the folder `proto`.
 * `buf` accepts the archive directly.
 */
export function protoArchive(repository: string): Buffer {
  const protos = readdirSync(join(repository, "proto"), { recursive: true, encoding: "utf8" });
  const names = ["LICENSE", "buf.yaml", ...protos.filter((it) => it.endsWith(".proto")).map((it) => `proto/${it}`)];
  const entries = names.toSorted().flatMap((name) => {
    const content = readFileSync(join(repository, name));
    return [headerOf(name, content.length), content, Buffer.alloc(-content.length & (BLOCK - 1))];
  });
  // An archive ends with two empty blocks.
  return gzipSync(Buffer.concat([...entries, Buffer.alloc(2 * BLOCK)]), { level: 9 });
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, "0");
}

/**
 * Returns the header of a readable file (POSIX.1-2017, pax, "ustar Interchange Format"). The header has
 * no time and owner, so that archives are reproducible.
 *
 * @throws Error if the name is too long
 */
function headerOf(name: string, bytes: number): Buffer {
  if (Buffer.byteLength(name) > 100) throw new Error(`${name} is too long a name`);
  const header = Buffer.alloc(BLOCK);
  header.write(name, 0);
  for (const [offset, value, digits] of [
    [100, 0o644, 7],
    [108, 0, 7],
    [116, 0, 7],
    [124, bytes, 11],
    [136, 0, 11],
  ] as const) {
    header.write(octal(value, digits), offset);
  }
  // The checksum is computed with its own field filled with spaces. `0` is the type flag of a regular file.
  header.write(`${" ".repeat(8)}0`, 148);
  header.write("ustar\x0000", 257, "latin1");
  header.write(
    octal(
      header.reduce((sum, byte) => sum + byte),
      6,
    ),
    148,
  );
  header.writeUInt8(0, 154);
  return header;
}
