import fc from "fast-check";
import { expect, test } from "vitest";
import { createJsonScan } from "../../../src/features/tariffs/tasks/json-scan.ts";

/** Returns the result of scanning a text in chunks of `pieceBytes` bytes. */
function scanned(text: string, pieceBytes = 1_000_000) {
  const bytes = Buffer.from(text);
  const scan = createJsonScan();
  for (let i = 0; i < bytes.length; i += pieceBytes) scan.read(bytes.subarray(i, i + pieceBytes));
  return { positions: scan.positions(), parsedBytes: scan.parsedBytes() };
}

const position = fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), {
  minLength: 2,
  maxLength: 3,
});
const ring = fc.array(position, { maxLength: 5 });
const geometry = fc.oneof(
  fc.record({ type: fc.constant("Polygon"), coordinates: fc.array(ring, { maxLength: 3 }) }),
  fc.record({
    type: fc.constant("MultiPolygon"),
    coordinates: fc.array(fc.array(ring, { maxLength: 3 }), { maxLength: 3 }),
  }),
);
const feature = fc.record({
  properties: fc.dictionary(fc.string(), fc.oneof(fc.string(), position)),
  bbox: position,
  geometry,
});

test("counts the positions of any features, regardless of chunks and spaces", () => {
  fc.assert(
    fc.property(
      fc.array(feature, { maxLength: 4 }),
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 0, max: 2 }),
      (features, pieceBytes, spaces) => {
        const positions = features.reduce(
          (count, it) => count + it.geometry.coordinates.flat(it.geometry.type === "Polygon" ? 1 : 2).length,
          0,
        );
        const text = JSON.stringify({ features }, null, spaces);
        expect(scanned(text, pieceBytes)).toEqual({ ...scanned(text), positions });
      },
    ),
  );
});

test("brackets, commas and quotes in strings count only by their length", () => {
  const plain = scanned(JSON.stringify({ coordinates: [[1, 2]], text: "x".repeat(8) }));
  const text = JSON.stringify({ coordinates: [[1, 2]], text: '"[1,{\\' });
  expect(scanned(text)).toEqual(plain);
  expect(plain.positions).toBe(1);
});

test.for([
  ["[0.1,1],", 80],
  ["[[0.5]],", 120],
  ["0,", 24],
  ["[],0,0,", 88],
  ['"a":0,', 150],
  ['{"a":0},', 250],
  ["{},", 64],
] as const)("counts each %s with the memory that it may use, %i bytes", ([item, bytes]) => {
  expect(scanned(`[${item.repeat(1_000)}0]`).parsedBytes).toBeGreaterThan(1_000 * bytes - bytes);
});

test("scans malformed text to its end", () => {
  for (const text of ["", "]]]}", '"', '{"coordinates":[[', "\\", "[1,[2", "\u0000\u00ff"]) {
    expect(scanned(text, 1).parsedBytes).toBeGreaterThanOrEqual(0);
  }
});
