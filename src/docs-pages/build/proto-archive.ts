import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

/** Of a header and of what the content is filled up to, in bytes. */
const BLOCK = 512;

/**
 * The definitions as they are in the repository, in a `tar` that is compressed by gzip: `buf` takes it as it
 * is, and unpacked it has the folder `proto`.
 */
export function protoArchive(repository: string): Buffer {
  const protos = readdirSync(join(repository, "proto"), { recursive: true, encoding: "utf8" });
  const names = [
    "LICENSE",
    "buf.yaml",
    ...protos.filter((it) => it.endsWith(".proto")).map((it) => `proto/${it}`),
  ];
  const entries = names.toSorted().flatMap((name) => {
    const content = readFileSync(join(repository, name));
    return [headerOf(name, content.length), content, Buffer.alloc(-content.length & (BLOCK - 1))];
  });
  // Two empty blocks end it.
  return gzipSync(Buffer.concat([...entries, Buffer.alloc(2 * BLOCK)]), { level: 9 });
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, "0");
}

/**
 * The header of a file that everyone may read, of no time and no owner, so that the same files make the same
 * archive (POSIX.1-2017, pax, "ustar Interchange Format").
 *
 * @throws Error for a name that has no room in it
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
  // The sum counts itself as blanks. Behind it stands the type, an ordinary file.
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
