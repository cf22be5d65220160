import { crc32, createInflate } from "node:zlib";
import { bufferOf, type CleanedPicture, MIB } from "./picture.ts";

const MAX_BYTES = MIB;
/** Maximum number of pixels. Viewers use up to four bytes of memory per pixel. */
const MAX_PIXELS = 4_000_000;
const SIGNATURE = Buffer.from("89504e470d0a1a0a", "hex");
const KEPT_CHUNKS: ReadonlySet<string> = new Set(["IHDR", "PLTE", "tRNS", "IDAT", "IEND"]);
const NOT_PNG = { error: "must be a PNG" };
const DAMAGED = { error: "must be a complete PNG" };

/** Samples per pixel and permitted bit depths for each color type (ISO/IEC 15948, table 11.1). */
const COLOR_TYPES: ReadonlyMap<number, { samples: number; depths: readonly number[] }> = new Map([
  [0, { samples: 1, depths: [1, 2, 4, 8, 16] }],
  [2, { samples: 3, depths: [8, 16] }],
  [3, { samples: 1, depths: [1, 2, 4, 8] }],
  [4, { samples: 2, depths: [8, 16] }],
  [6, { samples: 4, depths: [8, 16] }],
]);
const PALETTE_COLOR = 3;
const MAX_FILTER = 4;

/** First pixel and steps of each Adam7 pass: x, y, step in x, step in y (ISO/IEC 15948, 8.2). */
const ADAM7 = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const;
const NOT_INTERLACED = [[0, 0, 1, 1]] as const;

/** Consecutive rows of the same length in bytes, including the filter byte. */
interface Rows {
  readonly rowBytes: number;
  readonly count: number;
}

interface Header {
  readonly pixels: number;
  readonly needsPalette: boolean;
  readonly passes: readonly Rows[];
}

/**
 * Reduces a PNG (ISO/IEC 15948) to the chunks that a decoder needs. Removes other chunks and data
 * after the end. Rejects a picture that cannot be decoded completely.
 */
export async function cleanPng(bytes: Uint8Array): Promise<CleanedPicture> {
  const from = bufferOf(bytes);
  if (from.length > MAX_BYTES) return { error: "must be at most 1 MiB" };
  if (!from.subarray(0, 8).equals(SIGNATURE)) return NOT_PNG;
  const chunks: Buffer[] = [SIGNATURE];
  const imageData: Buffer[] = [];
  let header: Header | undefined;
  let hasPalette = false;
  let previous = "";
  for (let at = 8; at + 12 <= from.length;) {
    const end = at + 12 + from.readUInt32BE(at);
    const type = from.toString("latin1", at + 4, at + 8);
    const chunk = from.subarray(at, end);
    const isIntact = end <= from.length && crc32(chunk.subarray(4, -4)) === chunk.readUInt32BE(chunk.length - 4);
    if (!isIntact || (type === "IHDR") !== (at === 8)) return DAMAGED;
    const content = chunk.subarray(8, -4);
    if (type === "IHDR") {
      header = readHeader(content);
      if (header === undefined) return DAMAGED;
      if (header.pixels > MAX_PIXELS) return { error: "must have at most 4 megapixels" };
    } else if (type === "PLTE") {
      if (hasPalette || imageData.length > 0 || content.length === 0) return DAMAGED;
      hasPalette = true;
    } else if (type === "IDAT") {
      // Image data is one stream, whose chunks must be consecutive.
      if (imageData.length > 0 && previous !== "IDAT") return DAMAGED;
      imageData.push(content);
    }
    if (!isShortEnough(type, content.length)) return DAMAGED;
    if (KEPT_CHUNKS.has(type)) chunks.push(chunk);
    // An upper-case first letter marks a critical chunk, which a decoder must understand.
    else if (/^[A-Z]/.test(type)) return DAMAGED;
    if (type === "IEND") {
      const isDecodable = (hasPalette || !header!.needsPalette) && (await fillsRows(imageData, header!.passes));
      return isDecodable ? { picture: Buffer.concat(chunks) } : DAMAGED;
    }
    previous = type;
    at = end;
  }
  return DAMAGED;
}

/** Reads an IHDR chunk. Returns `undefined` if no decoder would accept it. */
function readHeader(content: Buffer): Header | undefined {
  if (content.length !== 13) return undefined;
  const [width, height] = [content.readUInt32BE(0), content.readUInt32BE(4)];
  const [depth, colorType, compression, filter, interlace] = content.subarray(8);
  const { samples, depths } = COLOR_TYPES.get(colorType!) ?? { samples: 0, depths: [] };
  const isKnown = compression === 0 && filter === 0 && interlace! <= 1;
  if (width * height === 0 || !depths.includes(depth!) || !isKnown) return undefined;
  const passes = (interlace === 1 ? ADAM7 : NOT_INTERLACED).flatMap(([x, y, stepX, stepY]) => {
    const columns = Math.ceil((width - x) / stepX);
    const count = Math.ceil((height - y) / stepY);
    // A pass without pixels has no rows.
    if (columns <= 0 || count <= 0) return [];
    return [{ rowBytes: 1 + Math.ceil((columns * samples * depth!) / 8), count }];
  });
  return { pixels: width * height, needsPalette: colorType === PALETTE_COLOR, passes };
}

/** Whether a chunk other than image data is too short to contain hidden data. */
function isShortEnough(type: string, length: number): boolean {
  if (type === "IEND") return length === 0;
  if (type === "PLTE") return length <= 768 && length % 3 === 0;
  return type !== "tRNS" || length <= 256;
}

/**
 * Whether the zlib stream of the image data inflates to exactly the rows of the picture, each with
 * a valid filter. Inflates in chunks, so that memory use does not depend on the size in the header.
 */
async function fillsRows(imageData: readonly Buffer[], passes: readonly Rows[]): Promise<boolean> {
  const compressed = Buffer.concat(imageData);
  const expectedBytes = passes.reduce((sum, { rowBytes, count }) => sum + rowBytes * count, 0);
  const rows = rowOffsets(passes);
  let row = rows.next();
  let inflatedBytes = 0;
  const inflate = createInflate();
  inflate.end(compressed);
  try {
    for await (const chunk of inflate as AsyncIterable<Buffer>) {
      const chunkEnd = inflatedBytes + chunk.length;
      if (chunkEnd > expectedBytes) return false;
      for (; !row.done && row.value < chunkEnd; row = rows.next()) {
        if (chunk[row.value - inflatedBytes]! > MAX_FILTER) return false;
      }
      inflatedBytes = chunkEnd;
    }
  } catch {
    return false;
  }
  return inflatedBytes === expectedBytes && inflate.bytesWritten === compressed.length;
}

/** Yields the offset of each row's first byte, which contains the filter. */
function* rowOffsets(passes: readonly Rows[]): Generator<number, undefined> {
  let offset = 0;
  for (const { rowBytes, count } of passes) {
    for (let row = 0; row < count; row++, offset += rowBytes) yield offset;
  }
}
