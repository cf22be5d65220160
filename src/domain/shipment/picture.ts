import { crc32 } from "node:zlib";

/** A picture without what is not needed to draw it, or what is wrong with it, as is told after its field's name. */
export type CleanedPicture =
  | { readonly picture: Buffer; readonly problem?: undefined }
  | { readonly picture?: undefined; readonly problem: string };

const MIB = 1024 * 1024;
const MAX_JPEG_BYTES = 5 * MIB;
const MAX_PNG_BYTES = MIB;
/** How many points a picture has at most: whoever looks at it holds four bytes of each. */
const MAX_JPEG_PIXELS = 50_000_000;
const MAX_PNG_PIXELS = 4_000_000;
/** Each goes over all points again; cameras write one, or about ten. */
const MAX_SCANS = 50;
/** Cameras write some tens. */
const MAX_SEGMENTS = 500;

/** The markers of a JPEG (ITU-T T.81, table B.1), but for those of the Exif and Adobe segments. */
const JPEG = {
  start: 0xd8,
  end: 0xd9,
  scan: 0xda,
  huffmanTable: 0xc4,
  quantizationTable: 0xdb,
  restartInterval: 0xdd,
  exif: 0xe1,
  adobe: 0xee,
  comment: 0xfe,
} as const;
/** Baseline, extended and progressive, which is what browsers draw. */
const FRAMES: ReadonlySet<number> = new Set([0xc0, 0xc1, 0xc2]);
const KEPT_SEGMENTS: ReadonlySet<number> = new Set([
  JPEG.huffmanTable,
  JPEG.quantizationTable,
  JPEG.restartInterval,
]);
const NO_JPEG = { problem: "must be a JPEG" };

/**
 * Takes from a JPEG what is needed to draw it, the way up included: no place, time, camera or comment stays, and nothing
 * behind its end, where other formats hide.
 */
export function cleanJpeg(bytes: Uint8Array): CleanedPicture {
  const from = bufferOf(bytes);
  if (from.length > MAX_JPEG_BYTES) return { problem: "must be at most 5 MiB" };
  if (from.length < 4 || from.readUInt16BE(0) !== (0xff00 | JPEG.start)) return NO_JPEG;
  const kept: Buffer[] = [];
  let orientation = 1;
  let pixels = 0;
  let scans = 0;
  let segments = 0;
  for (let at = 2; at + 4 <= from.length;) {
    if (from[at] !== 0xff) return NO_JPEG;
    if (++segments > MAX_SEGMENTS) return NO_JPEG;
    const marker = from[at + 1]!;
    const end = at + 2 + from.readUInt16BE(at + 2);
    if (marker === 0xff) {
      // A byte that fills.
      at++;
      continue;
    }
    if (marker === JPEG.scan) {
      scans++;
      const scanEnd = endOfScan(from, end);
      const isHeader = end === at + 8 + 2 * from[at + 4]!;
      if (pixels === 0 || !isHeader || scans > MAX_SCANS || scanEnd === undefined) return NO_JPEG;
      kept.push(from.subarray(at, scanEnd));
      if (from[scanEnd + 1] === JPEG.end) {
        return { picture: Buffer.concat([jpegStart(orientation), ...kept, JPEG_END]) };
      }
      at = scanEnd;
      continue;
    }
    const segment = from.subarray(at, end);
    if (segment.length < 4 || end > from.length) return NO_JPEG;
    if (FRAMES.has(marker)) {
      if (pixels > 0 || segment.length < 10 || segment.length !== 10 + 3 * segment[9]!)
        return NO_JPEG;
      pixels = segment.readUInt16BE(5) * segment.readUInt16BE(7);
      if (pixels === 0) return NO_JPEG;
      if (pixels > MAX_JPEG_PIXELS) return { problem: "must have at most 50 megapixels" };
      kept.push(segment);
    } else if (marker === JPEG.adobe) {
      if (segment.length === 16 && segment.toString("latin1", 4, 9) === "Adobe") kept.push(segment);
    } else if (KEPT_SEGMENTS.has(marker)) {
      if (!isFull(marker, segment.subarray(4))) return NO_JPEG;
      kept.push(segment);
    } else if (marker === JPEG.exif) orientation = orientationOf(segment) ?? orientation;
    else if ((marker & 0xf0) !== 0xe0 && marker !== JPEG.comment) return NO_JPEG;
    at = end;
  }
  return NO_JPEG;
}

/** Whether a segment has what its own counts say (T.81, B.2.4), and no other bytes. */
function isFull(marker: number, content: Buffer): boolean {
  if (marker === JPEG.restartInterval) return content.length === 2;
  let at = 0;
  while (at < content.length) {
    if (marker === JPEG.quantizationTable) at += 1 + (content[at]! >> 4 === 0 ? 64 : 128);
    else at += 17 + content.subarray(at + 1, at + 17).reduce((sum, count) => sum + count, 0);
  }
  return content.length > 0 && at === content.length;
}

const JPEG_END = Buffer.from([0xff, JPEG.end]);

/** Where a scan's data end: before the next marker that neither stuffs a byte nor restarts. */
function endOfScan(from: Buffer, begin: number): number | undefined {
  for (let at = from.indexOf(0xff, begin); at !== -1; at = from.indexOf(0xff, at + 1)) {
    const next = from[at + 1];
    if (next === undefined) return undefined;
    if (next !== 0 && next !== 0xff && (next < 0xd0 || next > 0xd7)) return at;
  }
  return undefined;
}

/** `Exif`, and the header of a TIFF (Exif 3.0, 4.7.2). */
const EXIF = Buffer.from("Exif\0\0");
const ORIENTATION_TAG = 0x0112;

/** Which way up a camera was held, 1 to 8 (Exif 3.0, 4.6.5); undefined where its segment does not say. */
function orientationOf(segment: Buffer): number | undefined {
  if (!segment.subarray(4, 10).equals(EXIF)) return undefined;
  const tiff = segment.subarray(10);
  const isLittle = tiff.toString("latin1", 0, 2) === "II";
  const read16 = (at: number) =>
    at + 2 > tiff.length ? 0 : isLittle ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at);
  const directory = read16(isLittle ? 4 : 6);
  const count = Math.min(read16(directory), 100);
  for (let entry = directory + 2; entry < directory + 2 + count * 12; entry += 12) {
    if (read16(entry) !== ORIENTATION_TAG) continue;
    const orientation = read16(entry + 8);
    return orientation >= 1 && orientation <= 8 ? orientation : undefined;
  }
  return undefined;
}

/** The beginning of a JPEG, with an Exif segment that says the way up alone, where that is another than usual. */
function jpegStart(orientation: number): Buffer {
  const start = Buffer.from([0xff, JPEG.start]);
  if (orientation === 1) return start;
  const tiff = Buffer.from("4d4d002a00000008000101120003000000010000000000000000", "hex");
  tiff.writeUInt16BE(orientation, 18);
  const head = Buffer.from([0xff, JPEG.exif, 0, 2 + EXIF.length + tiff.length]);
  return Buffer.concat([start, head, EXIF, tiff]);
}

const PNG_START = Buffer.from("89504e470d0a1a0a", "hex");
const KEPT_CHUNKS: ReadonlySet<string> = new Set(["IHDR", "PLTE", "tRNS", "IDAT", "IEND"]);
const NO_PNG = { problem: "must be a PNG" };

/** Takes from a PNG (ISO/IEC 15948) the chunks that are needed to draw it, and nothing behind its end. */
export function cleanPng(bytes: Uint8Array): CleanedPicture {
  const from = bufferOf(bytes);
  if (from.length > MAX_PNG_BYTES) return { problem: "must be at most 1 MiB" };
  if (!from.subarray(0, 8).equals(PNG_START)) return NO_PNG;
  const kept = [PNG_START];
  const seen = new Set<string>();
  for (let at = 8; at + 12 <= from.length;) {
    const end = at + 12 + from.readUInt32BE(at);
    const type = from.toString("latin1", at + 4, at + 8);
    const chunk = from.subarray(at, end);
    const isSound =
      end <= from.length && crc32(chunk.subarray(4, -4)) === chunk.readUInt32BE(chunk.length - 4);
    if (!isSound || (type === "IHDR") !== (at === 8)) return NO_PNG;
    if (type === "IHDR") {
      const pixels = chunk.length === 25 ? chunk.readUInt32BE(8) * chunk.readUInt32BE(12) : 0;
      if (pixels === 0) return NO_PNG;
      if (pixels > MAX_PNG_PIXELS) return { problem: "must have at most 4 megapixels" };
    }
    if (!isShortEnough(type, chunk.length - 12)) return NO_PNG;
    if (KEPT_CHUNKS.has(type)) kept.push(chunk);
    // A capital begins the names of chunks that cannot be left out.
    else if (/^[A-Z]/.test(type)) return NO_PNG;
    seen.add(type);
    if (type === "IEND") return seen.has("IDAT") ? { picture: Buffer.concat(kept) } : NO_PNG;
    at = end;
  }
  return NO_PNG;
}

/** Whether chunks of colours and the end have no room for anything else. */
function isShortEnough(type: string, length: number): boolean {
  if (type === "IEND") return length === 0;
  if (type === "PLTE") return length <= 768 && length % 3 === 0;
  return type !== "tRNS" || length <= 256;
}

/** The same bytes as a buffer. */
function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer<ArrayBuffer> {
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);
}
