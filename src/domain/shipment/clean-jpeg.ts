import { bufferOf, type CleanedPicture, MIB } from "./picture.ts";

const MAX_BYTES = 5 * MIB;
/** Maximum number of pixels. Viewers use up to four bytes of memory per pixel. */
const MAX_PIXELS = 50_000_000;
/** Maximum number of scans, each of which visits all pixels. Cameras write one scan, or about ten. */
const MAX_SCANS = 50;
/** Maximum number of segments. Cameras write a few dozen. */
const MAX_SEGMENTS = 500;

/** Markers (ITU-T T.81, table B.1), including those of Exif and Adobe segments. */
const MARKER = {
  start: 0xd8,
  end: 0xd9,
  scan: 0xda,
  huffmanTables: 0xc4,
  quantizationTables: 0xdb,
  restartInterval: 0xdd,
  exif: 0xe1,
  adobe: 0xee,
  comment: 0xfe,
} as const;
/** First of 16 markers for application data. */
const APPLICATION = 0xe0;
const PROGRESSIVE_FRAME = 0xc2;
/** Frame types that browsers support: baseline, extended and progressive. */
const FRAMES: ReadonlySet<number> = new Set([0xc0, 0xc1, PROGRESSIVE_FRAME]);
/** Class of a Huffman table for AC coefficients, as encoded in the table's first byte. */
const AC_TABLE = 0x10;
const MAX_BLOCKS_PER_UNIT = 10;
const NOT_JPEG = { error: "must be a JPEG" };
const DAMAGED = { error: "must be a complete JPEG" };

/** One color component of a frame (T.81, B.2.2). */
interface Component {
  readonly horizontal: number;
  readonly vertical: number;
  readonly quantizationTable: number;
}

interface Frame {
  readonly width: number;
  readonly height: number;
  readonly isProgressive: boolean;
  readonly components: ReadonlyMap<number, Component>;
}

/** State of a decoder before a scan. */
interface Decoder {
  frame: Frame | undefined;
  /** Exif orientation, 1 to 8. */
  orientation: number;
  readonly quantizationTables: Set<number>;
  /** First byte of each table: its class (0 for DC, 1 for AC) and number. */
  readonly huffmanTables: Set<number>;
  /** Ids of the components whose first DC scan has been read. */
  readonly scanned: Set<number>;
}

/**
 * Reduces a JPEG to the segments that a decoder needs and its orientation. Removes location, time, camera, comments
 * and data after the end. Rejects a picture that lacks required tables, components or scan data.
 */
export function cleanJpeg(bytes: Uint8Array): CleanedPicture {
  const from = bufferOf(bytes);
  if (from.length > MAX_BYTES) return { error: "must be at most 5 MiB" };
  if (from.length < 4 || from.readUInt16BE(0) !== (0xff00 | MARKER.start)) return NOT_JPEG;
  const neededSegments: Buffer[] = [];
  const decoder: Decoder = {
    frame: undefined,
    orientation: 1,
    quantizationTables: new Set(),
    huffmanTables: new Set(),
    scanned: new Set(),
  };
  let scans = 0;
  let segments = 0;
  for (let at = 2; at + 4 <= from.length;) {
    if (from[at] !== 0xff || ++segments > MAX_SEGMENTS) return DAMAGED;
    const marker = from[at + 1]!;
    if (marker === 0xff) {
      // Skips a fill byte.
      at++;
      continue;
    }
    const end = at + 2 + from.readUInt16BE(at + 2);
    const content = from.subarray(at + 4, end);
    if (end < at + 4 || end > from.length) return DAMAGED;
    if (marker === MARKER.scan) {
      const scanEnd = endOfScan(from, end);
      if (scanEnd === undefined || ++scans > MAX_SCANS) return DAMAGED;
      if (!readScan(decoder, content, scanEnd - end)) return DAMAGED;
      neededSegments.push(from.subarray(at, scanEnd));
      if (from[scanEnd + 1] === MARKER.end) {
        const isComplete = decoder.scanned.size === decoder.frame!.components.size;
        if (!isComplete) return DAMAGED;
        return { picture: Buffer.concat([jpegStart(decoder.orientation), ...neededSegments, JPEG_END]) };
      }
      at = scanEnd;
      continue;
    }
    const needed = readSegment(decoder, marker, content);
    if (typeof needed === "object") return needed;
    if (needed) neededSegments.push(from.subarray(at, end));
    at = end;
  }
  return DAMAGED;
}

/** Reads a segment other than a scan. Returns whether a decoder needs the segment, or the error. */
function readSegment(decoder: Decoder, marker: number, content: Buffer): boolean | { readonly error: string } {
  switch (marker) {
    case MARKER.quantizationTables:
      return readQuantizationTables(decoder, content) || DAMAGED;
    case MARKER.huffmanTables:
      return readHuffmanTables(decoder, content) || DAMAGED;
    case MARKER.restartInterval:
      return content.length === 2 || DAMAGED;
    case MARKER.adobe:
      return content.length === 12 && content.toString("latin1", 0, 5) === "Adobe";
    case MARKER.exif:
      decoder.orientation = orientationOf(content) ?? decoder.orientation;
      return false;
  }
  if (!FRAMES.has(marker)) {
    const isIgnored = (marker & 0xf0) === APPLICATION || marker === MARKER.comment;
    return isIgnored ? false : DAMAGED;
  }
  const frame = decoder.frame ? undefined : readFrame(content, marker === PROGRESSIVE_FRAME);
  if (frame === undefined) return DAMAGED;
  if (frame.width * frame.height > MAX_PIXELS) return { error: "must have at most 50 megapixels" };
  decoder.frame = frame;
  return true;
}

const JPEG_END = Buffer.from([0xff, MARKER.end]);

/** Reads a frame header. Returns `undefined` if no decoder would accept it. */
function readFrame(content: Buffer, isProgressive: boolean): Frame | undefined {
  const count = content[5] ?? 0;
  if (content.length !== 6 + 3 * count || content[0] !== 8) return undefined;
  const [height, width] = [content.readUInt16BE(1), content.readUInt16BE(3)];
  const components = new Map<number, Component>();
  for (let at = 6; at < content.length; at += 3) {
    const sampling = content[at + 1]!;
    const [horizontal, vertical] = [sampling >> 4, sampling & 0xf];
    if (Math.min(horizontal, vertical) < 1 || Math.max(horizontal, vertical) > 4) return undefined;
    components.set(content[at]!, { horizontal, vertical, quantizationTable: content[at + 2]! });
  }
  const isDrawn = [1, 3, 4].includes(count) && components.size === count;
  return isDrawn && width * height > 0 ? { width, height, isProgressive, components } : undefined;
}

/**
 * Records the quantization tables in a segment (T.81, B.2.4.1). Returns false if a table is incomplete or invalid.
 */
function readQuantizationTables({ quantizationTables }: Decoder, content: Buffer): boolean {
  let at = 0;
  while (at < content.length) {
    const [precision, number] = [content[at]! >> 4, content[at]! & 0xf];
    if (precision > 1 || number > 3) return false;
    quantizationTables.add(number);
    at += 1 + 64 * (precision + 1);
  }
  return at > 0 && at === content.length;
}

/** Records the Huffman tables in a segment (T.81, B.2.4.2). Returns false if a table is incomplete or invalid. */
function readHuffmanTables({ huffmanTables }: Decoder, content: Buffer): boolean {
  let at = 0;
  while (at + 17 < content.length) {
    const table = content[at]!;
    const counts = content.subarray(at + 1, at + 17);
    const codes = counts.reduce((sum, count) => sum + count, 0);
    // Share of the code space that the codes take (T.81, C.2).
    const used = counts.reduce((sum, count, i) => sum + count / 2 ** (i + 1), 0);
    const values = content.subarray(at + 17, at + 17 + codes);
    // The value of a DC code is a length in bits.
    const isPossible = (table & AC_TABLE) !== 0 || values.every((bits) => bits <= 15);
    if ((table & ~AC_TABLE) > 3 || codes === 0 || used > 1 || !isPossible) return false;
    huffmanTables.add(table);
    at += 17 + codes;
  }
  return at > 0 && at === content.length;
}

/**
 * Reads a scan header (T.81, B.2.3). Returns whether all tables that the scan refers to are present
 * and its data is long enough for its blocks.
 */
function readScan(decoder: Decoder, header: Buffer, dataBytes: number): boolean {
  const { frame, quantizationTables, huffmanTables } = decoder;
  const count = header[0] ?? 0;
  if (frame === undefined || header.length !== 4 + 2 * count) return false;
  const [from, to, approximation] = header.subarray(-3) as unknown as [number, number, number];
  const { isProgressive } = frame;
  const hasDc = !isProgressive || from === 0;
  const hasAc = !isProgressive || from > 0;
  const isRefined = isProgressive && approximation >> 4 > 0;
  const isPossible = hasDc ? to === 0 : from <= to && to <= 63 && count === 1;
  if (isProgressive && !isPossible) return false;
  const components: Component[] = [];
  for (let at = 1; at <= 2 * count; at += 2) {
    const [id, tables] = [header[at]!, header[at + 1]!];
    const component = frame.components.get(id);
    if (component === undefined || components.includes(component)) return false;
    const hasTables =
      quantizationTables.has(component.quantizationTable) &&
      // Refinement scans of DC coefficients use no Huffman table.
      (!hasDc || isRefined || huffmanTables.has(tables >> 4)) &&
      (!hasAc || huffmanTables.has(AC_TABLE | (tables & 0xf)));
    if (!hasTables) return false;
    if (hasDc && !isRefined) decoder.scanned.add(id);
    components.push(component);
  }
  // Each DC coefficient takes at least one bit, and each block of a sequential scan one more. One
  // AC code can end many blocks.
  const bitsPerBlock = Number(hasDc) + Number(!isProgressive);
  const bits = hasDc ? bitsPerBlock * blocksOf(frame, components) : 1;
  return components.length > 0 && bits <= 8 * dataBytes;
}

/**
 * Returns the number of blocks (8 by 8 samples) in a scan, or Infinity if a unit has more blocks
 * than decoders accept (T.81, A.2, B.2.3).
 */
function blocksOf({ width, height, components }: Frame, scanned: readonly Component[]): number {
  const all = [...components.values()];
  const maxHorizontal = Math.max(...all.map(({ horizontal }) => horizontal));
  const maxVertical = Math.max(...all.map(({ vertical }) => vertical));
  if (scanned.length === 1) {
    const [{ horizontal, vertical }] = scanned as readonly [Component];
    const columns = Math.ceil(Math.ceil((width * horizontal) / maxHorizontal) / 8);
    return columns * Math.ceil(Math.ceil((height * vertical) / maxVertical) / 8);
  }
  const perUnit = scanned.reduce((sum, it) => sum + it.horizontal * it.vertical, 0);
  if (perUnit > MAX_BLOCKS_PER_UNIT) return Infinity;
  return perUnit * Math.ceil(width / (8 * maxHorizontal)) * Math.ceil(height / (8 * maxVertical));
}

/**
 * Returns the end of a scan's data: the next marker other than a stuffed byte or a restart. Returns `undefined` if
 * there is none.
 */
function endOfScan(from: Buffer, begin: number): number | undefined {
  for (let at = from.indexOf(0xff, begin); at !== -1; at = from.indexOf(0xff, at + 1)) {
    const next = from[at + 1];
    if (next === undefined) return undefined;
    if (next !== 0 && next !== 0xff && (next < 0xd0 || next > 0xd7)) return at;
  }
  return undefined;
}

/** First bytes of an Exif segment, before the TIFF header (Exif 3.0, 4.7.2). */
const EXIF = Buffer.from("Exif\0\0");
const ORIENTATION_TAG = 0x0112;

/** Returns the orientation in an Exif segment, 1 to 8 (Exif 3.0, 4.6.5), or `undefined` if there is none. */
function orientationOf(content: Buffer): number | undefined {
  if (!content.subarray(0, 6).equals(EXIF)) return undefined;
  const tiff = content.subarray(6);
  const isLittle = tiff.toString("latin1", 0, 2) === "II";
  const read16 = (at: number) => (at + 2 > tiff.length ? 0 : isLittle ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at));
  const directory = read16(isLittle ? 4 : 6);
  const count = Math.min(read16(directory), 100);
  for (let entry = directory + 2; entry < directory + 2 + count * 12; entry += 12) {
    if (read16(entry) !== ORIENTATION_TAG) continue;
    const orientation = read16(entry + 8);
    return orientation >= 1 && orientation <= 8 ? orientation : undefined;
  }
  return undefined;
}

/**
 * Returns the first bytes of a JPEG. Includes an Exif segment with only the orientation unless it is 1, the default.
 */
function jpegStart(orientation: number): Buffer {
  const start = Buffer.from([0xff, MARKER.start]);
  if (orientation === 1) return start;
  const tiff = Buffer.from("4d4d002a00000008000101120003000000010000000000000000", "hex");
  tiff.writeUInt16BE(orientation, 18);
  const head = Buffer.from([0xff, MARKER.exif, 0, 2 + EXIF.length + tiff.length]);
  return Buffer.concat([start, head, EXIF, tiff]);
}
