import { writeFileSync } from "node:fs";
import { crc32, deflateSync } from "node:zlib";
import { zxyToTileId } from "pmtiles";
import { listenWith } from "./raw-http.ts";

/** Red, green and blue, 0 to 255. */
export type Rgb = readonly [number, number, number];

/** Returns a map tile: a PNG in one color, 256 pixels wide and high. */
export function plainTile(color: Rgb): Buffer {
  const size = 256;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(size, 0);
  header.writeUInt32BE(size, 4);
  // 8 bits per channel. 2 is PNG's type for RGB.
  header.set([8, 2], 8);
  const row = Buffer.from([0, ...Array.from({ length: size }, () => color).flat()]);
  const rows = Buffer.concat(Array.from({ length: size }, () => row));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const chunks = [chunk("IHDR", header), chunk("IDAT", deflateSync(rows)), chunk("IEND")];
  return Buffer.concat([signature, ...chunks]);
}

function chunk(type: string, data: Buffer = Buffer.alloc(0)): Buffer {
  const content = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(content));
  return Buffer.concat([length, content, sum]);
}

export interface TileServer {
  readonly url: string;
  /** Requests so far, with their Referer header. */
  readonly requests: { readonly path: string; readonly referer: string | undefined }[];
}

/** Serves the same tile at every URL until the end of the test or its file. */
export async function startTileServer(tile: Buffer): Promise<TileServer> {
  const requests: TileServer["requests"] = [];
  const url = await listenWith((request, response) => {
    requests.push({ path: request.url ?? "", referer: request.headers.referer });
    response.writeHead(200, { "content-type": "image/png" }).end(tile);
  });
  return { url, requests };
}

/** Numbers of tile types in PMTiles. */
export const TILE_TYPES = { mvt: 1, png: 2 } as const;

/**
 * Writes a PMTiles file (version 3) with the same tile everywhere, from zoom 0 to `maxZoom`.
 * https://github.com/protomaps/PMTiles/blob/main/spec/v3/spec.md
 */
export function writePmtiles(
  path: string,
  tile: Buffer,
  { maxZoom, type = "png" }: { maxZoom: number; type?: keyof typeof TILE_TYPES },
): void {
  const count = zxyToTileId(maxZoom + 1, 0, 0);
  // A single directory entry: tile 0, repeated `count` times, with this length, at the start of the data.
  const directory = Buffer.from([1, 0, count, tile.length, 1].flatMap(varint));
  const metadata = Buffer.from("{}");
  const header = Buffer.alloc(127);
  header.write("PMTiles\x03", "latin1");
  const [afterHeader, data] = [127, 127 + directory.length + metadata.length];
  const sections = [afterHeader, directory.length, data - metadata.length, metadata.length];
  [...sections, data, 0, data, tile.length, count, 1, 1].forEach((number, i) =>
    header.writeBigUInt64LE(BigInt(number), 8 + i * 8),
  );
  // Marks the tiles as clustered, and directories and tiles as uncompressed.
  header.set([1, 1, 1, TILE_TYPES[type], 0, maxZoom], 96);
  const degrees = [-180, -85, 180, 85];
  degrees.forEach((degree, i) => header.writeInt32LE(degree * 1e7, 102 + i * 4));
  writeFileSync(path, Buffer.concat([header, directory, metadata, tile]));
}

function varint(number: number): number[] {
  return number < 128 ? [number] : [(number % 128) + 128, ...varint(Math.floor(number / 128))];
}
