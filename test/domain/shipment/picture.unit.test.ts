import { crc32 } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cleanJpeg, cleanPng } from "../../../src/domain/shipment/picture.ts";
import { SAMPLE_PICTURES } from "../../../src/features/test-mode/sample-pictures.ts";

const { photo, signature } = SAMPLE_PICTURES;

/** A segment of a JPEG, with its marker and length. */
function segment(marker: number, content: string | Buffer): Buffer {
  const bytes = Buffer.from(content);
  const head = Buffer.from([0xff, marker, 0, 0]);
  head.writeUInt16BE(bytes.length + 2, 2);
  return Buffer.concat([head, bytes]);
}

const jpegWith = (...segments: readonly Buffer[]) =>
  Buffer.concat([photo.subarray(0, 2), ...segments, photo.subarray(2)]);

/** What a camera notes, by the order of its bytes: its maker, the way up, and that a place follows. */
function exif(order: "II" | "MM", orientation: number): Buffer {
  const tiff = Buffer.alloc(64);
  const at = (bytes: number, ...values: number[]) =>
    values.forEach((value, i) =>
      order === "II"
        ? tiff.writeUInt16LE(value, bytes + 2 * i)
        : tiff.writeUInt16BE(value, bytes + 2 * i),
    );
  tiff.write(order);
  if (order === "II") at(2, 42, 8, 0);
  else at(2, 42, 0, 8);
  at(8, 3, 0x010f, 2);
  at(22, 0x0112, 3);
  at(30, orientation);
  at(34, 0x8825, 4);
  return segment(
    0xe1,
    Buffer.concat([Buffer.from("Exif\0\0"), tiff, Buffer.from("52.5 N 13.4 E")]),
  );
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

test("what is needed to draw a picture stays as it is", () => {
  expect(cleanJpeg(photo)).toEqual({ picture: photo });
  expect(cleanPng(signature)).toEqual({ picture: signature });
});

test("what else a picture tells, and what hides in it or behind it, is left out", () => {
  const told = [segment(0xe0, "JFIF\0"), segment(0xe2, "ICC_PROFILE"), segment(0xfe, "<script>")];
  const hidden = Buffer.from("PK\u0003\u0004 an archive");
  expect(cleanJpeg(Buffer.concat([jpegWith(...told), hidden]))).toEqual({ picture: photo });
  const texts = [chunk("tEXt", "Author\0Ada"), chunk("eXIf", "MM"), chunk("iCCP", "x")];
  expect(cleanPng(Buffer.concat([pngWith(...texts), hidden]))).toEqual({ picture: signature });
});

test("nothing else is kept in what is needed to draw a picture", () => {
  const place = "GPS 40.7128N";
  const adobe = segment(0xee, Buffer.concat([Buffer.from("Adobe"), Buffer.alloc(7)]));
  expect(cleanJpeg(jpegWith(adobe))).toEqual({ picture: jpegWith(adobe) });
  for (const foreign of [segment(0xee, place), segment(0xee, `Adobe${place}`)]) {
    expect(cleanJpeg(jpegWith(foreign))).toEqual({ picture: photo });
  }
  const table = Buffer.alloc(65);
  const padded = [
    segment(0xdb, Buffer.concat([table, Buffer.from(place)])),
    segment(0xc4, Buffer.concat([Buffer.alloc(17), Buffer.from(place)])),
    segment(0xdd, place),
  ];
  for (const bytes of padded)
    expect(cleanJpeg(jpegWith(bytes))).toEqual({ problem: "must be a JPEG" });
  for (const bytes of [
    pngWith(chunk("tRNS", Buffer.alloc(257))),
    pngWith(chunk("PLTE", Buffer.alloc(4))),
    Buffer.concat([signature.subarray(0, -12), chunk("IEND", place)]),
  ]) {
    expect(cleanPng(bytes)).toEqual({ problem: "must be a PNG" });
  }
});

test("a photo of very many segments is refused before they are read", () => {
  const many = Array.from({ length: 500 }, () => segment(0xfe, ""));
  expect(cleanJpeg(jpegWith(...many))).toEqual({ problem: "must be a JPEG" });
});

test.each(["II", "MM"] as const)("a photo stays the way up that its camera notes (%s)", (order) => {
  const tiff = Buffer.from("4d4d002a00000008000101120003000000010006000000000000", "hex");
  const upright = segment(0xe1, Buffer.concat([Buffer.from("Exif\0\0"), tiff]));
  const expected = jpegWith(upright);
  expect(cleanJpeg(jpegWith(exif(order, 6)))).toEqual({ picture: expected });
  expect(cleanJpeg(expected)).toEqual({ picture: expected });
  for (const usual of [1, 0, 9]) {
    expect(cleanJpeg(jpegWith(exif(order, usual)))).toEqual({ picture: photo });
  }
});

describe("is told from its bytes", () => {
  const FRAME = photo.indexOf(Buffer.from([0xff, 0xc0]));
  const sized = (bytes: Buffer, at: number, size: Buffer) =>
    Buffer.concat([bytes.subarray(0, at), size, bytes.subarray(at + size.length)]);
  const scan = photo.subarray(photo.indexOf(Buffer.from([0xff, 0xda])), -2);
  const before = photo.subarray(0, -2);

  test.each<[string, Buffer, string]>([
    ["a PNG", signature, "must be a JPEG"],
    ["a page", Buffer.from("<!doctype html><script>"), "must be a JPEG"],
    ["nothing", Buffer.alloc(0), "must be a JPEG"],
    ["one that ends early", before, "must be a JPEG"],
    ["one without an image", Buffer.from([0xff, 0xd8, 0xff, 0xd9]), "must be a JPEG"],
    ["one of no size", sized(photo, FRAME + 5, Buffer.alloc(4)), "must be a JPEG"],
    ["a large one", Buffer.alloc(5 * 1024 * 1024 + 1), "must be at most 5 MiB"],
    [
      "one that is large when drawn",
      sized(photo, FRAME + 5, Buffer.from([0xff, 0xff, 0xff, 0xff])),
      "must have at most 50 megapixels",
    ],
    [
      "one that is drawn again and again",
      Buffer.concat([before, ...Array.from({ length: 50 }, () => scan), photo.subarray(-2)]),
      "must be a JPEG",
    ],
    ["lossless ones, which browsers do not draw", jpegWith(segment(0xc3, "")), "must be a JPEG"],
  ])("no photo: %s", (_, bytes, problem) => {
    expect(cleanJpeg(bytes)).toEqual({ problem });
  });

  const wide = chunk("IHDR", Buffer.from("00010000000100000806000000", "hex"));
  test.each<[string, Buffer, string]>([
    ["a JPEG", photo, "must be a PNG"],
    ["one whose sum is wrong", sized(signature, 40, Buffer.from("??")), "must be a PNG"],
    ["one that ends early", signature.subarray(0, -4), "must be a PNG"],
    [
      "one without an image",
      Buffer.concat([signature.subarray(0, 33), chunk("IEND", "")]),
      "must be a PNG",
    ],
    ["one with two headers", pngWith(signature.subarray(8, 33)), "must be a PNG"],
    ["one that needs what nobody knows", pngWith(chunk("EViL", "")), "must be a PNG"],
    ["a large one", Buffer.alloc(1024 * 1024 + 1), "must be at most 1 MiB"],
    [
      "one that is large when drawn",
      Buffer.concat([signature.subarray(0, 8), wide, signature.subarray(33)]),
      "must have at most 4 megapixels",
    ],
  ])("no signature: %s", (_, bytes, problem) => {
    expect(cleanPng(bytes)).toEqual({ problem });
  });

  test("whatever comes, and what is left of it is clean", () => {
    const bent = (bytes: Buffer) =>
      fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { maxLength: 8 }).map((changes) => {
        const copy = Buffer.from(bytes);
        for (const [at, byte] of changes) copy[at] = byte;
        return copy;
      });
    for (const [clean, whole] of [
      [cleanJpeg, jpegWith(exif("II", 3))],
      [cleanPng, signature],
    ] as const) {
      fc.assert(
        fc.property(fc.oneof(bent(whole), fc.uint8Array({ maxLength: 200 })), (bytes) => {
          const { picture } = clean(bytes);
          if (picture !== undefined) expect(clean(picture)).toEqual({ picture });
        }),
        { numRuns: 2_000 },
      );
    }
  });
});
