import { crc32, deflateSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cleanJpeg } from "../../../src/domain/shipment/clean-jpeg.ts";
import { cleanPng } from "../../../src/domain/shipment/clean-png.ts";
import { SAMPLE_PICTURES } from "../../../src/features/test-mode/sample-pictures.ts";

const { photo, signature } = SAMPLE_PICTURES;

/** Returns a JPEG segment with its marker and length. */
function segment(marker: number, content: string | Buffer): Buffer {
  const bytes = Buffer.from(content);
  const head = Buffer.from([0xff, marker, 0, 0]);
  head.writeUInt16BE(bytes.length + 2, 2);
  return Buffer.concat([head, bytes]);
}

const jpegWith = (...segments: readonly Buffer[]) =>
  Buffer.concat([photo.subarray(0, 2), ...segments, photo.subarray(2)]);

/**
 * Returns camera metadata (Exif) in a byte order, with the maker, the orientation, and a text that
 * stands for the position.
 */
function exif(order: "II" | "MM", orientation: number): Buffer {
  const tiff = Buffer.alloc(64);
  const at = (bytes: number, ...values: number[]) =>
    values.forEach((value, i) =>
      order === "II" ? tiff.writeUInt16LE(value, bytes + 2 * i) : tiff.writeUInt16BE(value, bytes + 2 * i),
    );
  tiff.write(order);
  if (order === "II") at(2, 42, 8, 0);
  else at(2, 42, 0, 8);
  at(8, 3, 0x010f, 2);
  at(22, 0x0112, 3);
  at(30, orientation);
  at(34, 0x8825, 4);
  return segment(0xe1, Buffer.concat([Buffer.from("Exif\0\0"), tiff, Buffer.from("52.5 N 13.4 E")]));
}

function chunk(type: string, content: string | Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type), Buffer.from(content)]);
  const bytes = Buffer.alloc(named.length + 8);
  bytes.writeUInt32BE(named.length - 4);
  named.copy(bytes, 4);
  bytes.writeUInt32BE(crc32(named), named.length + 4);
  return bytes;
}

const HEADER_END = 33;
const pngWith = (...chunks: readonly Buffer[]) =>
  Buffer.concat([signature.subarray(0, HEADER_END), ...chunks, signature.subarray(HEADER_END)]);

test("keeps the data that is needed to draw a picture", async () => {
  expect(cleanJpeg(photo)).toEqual({ picture: photo });
  expect(await cleanPng(signature)).toEqual({ picture: signature });
});

test("removes metadata, comments and hidden or appended data from a picture", async () => {
  const segments = [segment(0xe0, "JFIF\0"), segment(0xe2, "ICC_PROFILE"), segment(0xfe, "<script>")];
  const hidden = Buffer.from("PK\u0003\u0004 an archive");
  expect(cleanJpeg(Buffer.concat([jpegWith(...segments), hidden]))).toEqual({ picture: photo });
  const texts = [chunk("tEXt", "Author\0Ada"), chunk("eXIf", "MM"), chunk("iCCP", "x")];
  expect(await cleanPng(Buffer.concat([pngWith(...texts), hidden]))).toEqual({
    picture: signature,
  });
});

test("keeps only valid contents in segments that are needed to draw a picture", async () => {
  const gps = "GPS 40.7128N";
  const adobe = segment(0xee, Buffer.concat([Buffer.from("Adobe"), Buffer.alloc(7)]));
  expect(cleanJpeg(jpegWith(adobe))).toEqual({ picture: jpegWith(adobe) });
  for (const foreign of [segment(0xee, gps), segment(0xee, `Adobe${gps}`)]) {
    expect(cleanJpeg(jpegWith(foreign))).toEqual({ picture: photo });
  }
  const table = Buffer.alloc(65);
  const padded = [
    segment(0xdb, Buffer.concat([table, Buffer.from(gps)])),
    segment(0xc4, Buffer.concat([Buffer.alloc(17), Buffer.from(gps)])),
    segment(0xdd, gps),
  ];
  for (const bytes of padded) expect(cleanJpeg(jpegWith(bytes))).toEqual({ error: "must be a complete JPEG" });
  for (const bytes of [
    pngWith(chunk("tRNS", Buffer.alloc(257))),
    pngWith(chunk("PLTE", Buffer.alloc(4))),
    Buffer.concat([signature.subarray(0, -12), chunk("IEND", gps)]),
  ]) {
    expect(await cleanPng(bytes)).toEqual({ error: "must be a complete PNG" });
  }
});

test("refuses a photo with too many segments before reading them", () => {
  const many = Array.from({ length: 500 }, () => segment(0xfe, ""));
  expect(cleanJpeg(jpegWith(...many))).toEqual({ error: "must be a complete JPEG" });
});

test.each(["II", "MM"] as const)("a photo keeps the orientation that its camera noted (%s)", (order) => {
  const tiff = Buffer.from("4d4d002a00000008000101120003000000010006000000000000", "hex");
  const upright = segment(0xe1, Buffer.concat([Buffer.from("Exif\0\0"), tiff]));
  const expected = jpegWith(upright);
  expect(cleanJpeg(jpegWith(exif(order, 6)))).toEqual({ picture: expected });
  expect(cleanJpeg(expected)).toEqual({ picture: expected });
  for (const usual of [1, 0, 9]) {
    expect(cleanJpeg(jpegWith(exif(order, usual)))).toEqual({ picture: photo });
  }
});

describe("a picture is recognized by its bytes", () => {
  const FRAME = photo.indexOf(Buffer.from([0xff, 0xc0]));
  const sized = (bytes: Buffer, at: number, size: Buffer) =>
    Buffer.concat([bytes.subarray(0, at), size, bytes.subarray(at + size.length)]);
  const scan = photo.subarray(photo.indexOf(Buffer.from([0xff, 0xda])), -2);
  const before = photo.subarray(0, -2);

  test.each<[string, Buffer, string]>([
    ["a PNG", signature, "must be a JPEG"],
    ["a page", Buffer.from("<!doctype html><script>"), "must be a JPEG"],
    ["nothing", Buffer.alloc(0), "must be a JPEG"],
    ["a truncated JPEG", before, "must be a complete JPEG"],
    ["a JPEG without an image", Buffer.from([0xff, 0xd8, 0xff, 0xd9]), "must be a complete JPEG"],
    ["a JPEG without a size", sized(photo, FRAME + 5, Buffer.alloc(4)), "must be a complete JPEG"],
    ["a large file", Buffer.alloc(5 * 1024 * 1024 + 1), "must be at most 5 MiB"],
    [
      "a JPEG with large dimensions",
      sized(photo, FRAME + 5, Buffer.from([0xff, 0xff, 0xff, 0xff])),
      "must have at most 50 megapixels",
    ],
    [
      "a JPEG with too many scans",
      Buffer.concat([before, ...Array.from({ length: 50 }, () => scan), photo.subarray(-2)]),
      "must be a complete JPEG",
    ],
    ["a lossless JPEG, which browsers do not draw", jpegWith(segment(0xc3, "")), "must be a complete JPEG"],
  ])("not a photo: %s", (_, bytes, error) => {
    expect(cleanJpeg(bytes)).toEqual({ error });
  });

  const wide = chunk("IHDR", Buffer.from("00010000000100000806000000", "hex"));
  test.each<[string, Buffer, string]>([
    ["a JPEG", photo, "must be a PNG"],
    ["a PNG with a wrong checksum", sized(signature, 40, Buffer.from("??")), "must be a complete PNG"],
    ["a truncated PNG", signature.subarray(0, -4), "must be a complete PNG"],
    ["a PNG without an image", Buffer.concat([signature.subarray(0, 33), chunk("IEND", "")]), "must be a complete PNG"],
    ["a PNG with two headers", pngWith(signature.subarray(8, 33)), "must be a complete PNG"],
    ["a PNG with an unknown critical chunk", pngWith(chunk("EViL", "")), "must be a complete PNG"],
    ["a large file", Buffer.alloc(1024 * 1024 + 1), "must be at most 1 MiB"],
    [
      "a PNG with large dimensions",
      Buffer.concat([signature.subarray(0, 8), wide, signature.subarray(33)]),
      "must have at most 4 megapixels",
    ],
  ])("not a signature: %s", async (_, bytes, error) => {
    expect(await cleanPng(bytes)).toEqual({ error });
  });

  test("accepts or refuses any bytes, and the cleaned picture stays the same when it is cleaned again", async () => {
    const corrupted = (bytes: Buffer) =>
      fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { maxLength: 8 }).map((changes) => {
        const copy = Buffer.from(bytes);
        for (const [at, byte] of changes) copy[at] = byte;
        return copy;
      });
    for (const [clean, whole] of [
      [cleanJpeg, jpegWith(exif("II", 3))],
      [cleanPng, signature],
    ] as const) {
      await fc.assert(
        fc.asyncProperty(fc.oneof(corrupted(whole), fc.uint8Array({ maxLength: 200 })), async (bytes) => {
          const { picture } = await clean(bytes);
          if (picture !== undefined) expect(await clean(picture)).toEqual({ picture });
        }),
        { numRuns: 2_000 },
      );
    }
  });
});

/** PNG color types with the number of samples per pixel and the valid bit depths. */
const COLOR_TYPES = [
  [0, 1, [1, 2, 4, 8, 16]],
  [2, 3, [8, 16]],
  [3, 1, [1, 2, 4, 8]],
  [4, 2, [8, 16]],
  [6, 4, [8, 16]],
] as const;

/** Returns a PNG that is 5 pixels wide and 3 high. */
function png({ depth = 8, color = 6, interlace = 0 }, imageData: Buffer, ...before: readonly Buffer[]): Buffer {
  const header = Buffer.from([0, 0, 0, 5, 0, 0, 0, 3, depth, color, 0, 0, interlace]);
  const chunks = [chunk("IHDR", header), ...before, chunk("IDAT", imageData), chunk("IEND", "")];
  return Buffer.concat([signature.subarray(0, 8), ...chunks]);
}
const palette = chunk("PLTE", Buffer.alloc(6));

/** Width and height of each interlace pass for 5 by 3 pixels, computed by hand (ISO/IEC 15948, section 8.2). */
const PASSES = {
  0: [[5, 3]],
  1: [
    [1, 1],
    [1, 1],
    [1, 1],
    [3, 1],
    [2, 2],
    [5, 1],
  ],
} as const;

test.each([0, 1] as const)("the image data of a PNG must fill its rows exactly (interlace %i)", async (interlace) => {
  for (const [color, samples, depths] of COLOR_TYPES) {
    for (const depth of depths) {
      const rowOf = (width: number) => Buffer.alloc(1 + Math.ceil((width * samples * depth) / 8), 4);
      const rows = PASSES[interlace].flatMap(([width, height]) => Array.from({ length: height }, () => rowOf(width)));
      const before = color === 3 ? [palette] : [];
      const make = (raw: Buffer) => png({ depth, color, interlace }, deflateSync(raw), ...before);
      const raw = Buffer.concat(rows);
      expect(await cleanPng(make(raw))).toEqual({ picture: make(raw) });
      for (const other of [raw.subarray(1), Buffer.concat([raw, Buffer.alloc(1)])]) {
        expect(await cleanPng(make(other))).toEqual({ error: "must be a complete PNG" });
      }
    }
  }
});

describe("refuses a picture that no decoder can draw", () => {
  const rows = (filter = 0) => Buffer.concat(Array.from({ length: 3 }, () => Buffer.alloc(21, filter)));
  const valid = deflateSync(rows());
  test.each<[string, Buffer]>([
    ["image data that are not compressed", png({}, rows())],
    ["image data that end early", png({}, valid.subarray(0, -5))],
    ["image data whose checksum is wrong", png({}, Buffer.concat([valid.subarray(0, -1), Buffer.of(0)]))],
    ["bytes after the image data", png({}, Buffer.concat([valid, Buffer.from("PK")]))],
    ["image data that inflate to much more", png({}, deflateSync(Buffer.alloc(1_000_000)))],
    ["an unknown filter", png({}, deflateSync(rows(5)))],
    ["image data in separate places", png({}, valid, chunk("IDAT", ""), chunk("tEXt", "a\0b"))],
    ["an unknown color type", png({ color: 5 }, valid)],
    ["a depth that its color type does not have", png({ depth: 4 }, valid)],
    ["an unknown interlace method", png({ interlace: 2 }, valid)],
    ["colors without a palette", png({ color: 3 }, deflateSync(Buffer.alloc(18)))],
  ])("PNG: %s", async (_, bytes) => {
    expect(await cleanPng(png({}, valid))).toEqual({ picture: png({}, valid) });
    expect(await cleanPng(bytes)).toEqual({ error: "must be a complete PNG" });
  });

  /** Returns the sample photo without the segments that have this marker. */
  function photoWithout(marker: number, replacement: Buffer = Buffer.alloc(0)): Buffer {
    const kept: Buffer[] = [photo.subarray(0, 2)];
    let at = 2;
    for (; photo[at + 1] !== 0xda;) {
      const end = at + 2 + photo.readUInt16BE(at + 2);
      kept.push(photo[at + 1] === marker ? replacement : photo.subarray(at, end));
      at = end;
    }
    return Buffer.concat([...kept, photo.subarray(at)]);
  }
  const scan = photo.indexOf(Buffer.from([0xff, 0xda]));
  const scanData = scan + 2 + photo.readUInt16BE(scan + 2);
  const end = photo.subarray(-2);
  test.each<[string, Buffer]>([
    ["27 bytes of a header", Buffer.from("ffd8ffc0000b080001000101011100ffda0008010100003f00ffd9", "hex")],
    ["no quantization tables", photoWithout(0xdb)],
    ["no Huffman tables", photoWithout(0xc4)],
    ["no frame", photoWithout(0xc0)],
    ["a frame of 12 bits a sample", photoWithout(0xc0, segment(0xc1, Buffer.from("0c0001000101011100", "hex")))],
    [
      "codes that overlap",
      jpegWith(segment(0xc4, Buffer.from([0, 3, ...Array.from({ length: 15 }, () => 0), 1, 2, 3]))),
    ],
    [
      "DC codes of more than 15 bits",
      jpegWith(segment(0xc4, Buffer.from([0, 1, ...Array.from({ length: 15 }, () => 0), 16]))),
    ],
    ["no scan data", Buffer.concat([photo.subarray(0, scanData), end])],
    ["scan data for a part of its blocks", Buffer.concat([photo.subarray(0, scanData + 5), end])],
  ])("JPEG: %s", (_, bytes) => {
    expect(cleanJpeg(bytes)).toEqual({ error: "must be a complete JPEG" });
  });
});
