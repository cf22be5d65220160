import { describe, expect, test } from "vitest";
import { hashKey, isWellFormedKey, lastFour, createSecretKey } from "../../src/domain/secret-key.ts";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Computes the CRC-32 bit by bit (ISO 3309). Returns 6 base62 digits. */
function checksum(secret: string): string {
  let crc = 0xffffffff;
  for (const byte of Buffer.from(secret)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  let value = BigInt((crc ^ 0xffffffff) >>> 0);
  let digits = "";
  for (let i = 0; i < 6; i++, value /= 62n) digits = BASE62[Number(value % 62n)] + digits;
  return digits;
}

describe("createSecretKey", () => {
  test("returns shp_, 30 characters and their checksum", () => {
    const key = createSecretKey("shp_");
    expect(key).toMatch(/^shp_[0-9A-Za-z]{36}$/);
    expect(key.slice(34)).toBe(checksum(key.slice(4, 34)));
    expect(isWellFormedKey(key)).toBe(true);
  });

  test("returns a different key each time and uses every character evenly", () => {
    const keys = Array.from({ length: 10_000 }, () => createSecretKey("shp_"));
    expect(new Set(keys).size).toBe(keys.length);
    const counts = new Map<string, number>();
    for (const key of keys)
      for (const character of key.slice(4, 34)) counts.set(character, (counts.get(character) ?? 0) + 1);
    // With 300,000 draws from 62 characters, each occurs 4,839 times on average, with a standard
    // deviation of 69. Taking bytes modulo 62 would favor the first eight characters by 25 %.
    expect([...counts.keys()].toSorted().join("")).toBe(BASE62);
    for (const count of counts.values()) expect(Math.abs(count - 4839)).toBeLessThan(7 * 69);
  });
});

describe("isWellFormedKey", () => {
  const secret = "0123456789ABCDEFGHIJabcdefghij";
  const key = `shp_${secret}${checksum(secret)}`;

  test("accepts a key with the right checksum, padded with zeros or not", () => {
    expect(isWellFormedKey(key)).toBe(true);
    const small = Array.from({ length: 5000 }, (_, i) => String(i).padStart(30, "0")).find((text) =>
      checksum(text).startsWith("00"),
    )!;
    expect(isWellFormedKey(`shp_${small}${checksum(small)}`)).toBe(true);
  });

  test("refuses every single changed character", () => {
    for (let i = 0; i < key.length; i++) {
      for (const other of [...BASE62, "_", "-", " ", "é"]) {
        if (other !== key[i]) {
          const changed = key.slice(0, i) + other + key.slice(i + 1);
          // The change may turn the key into an operator's key, whose checksum covers the same characters.
          expect(isWellFormedKey(changed), changed).toBe(changed.startsWith("sho_"));
        }
      }
    }
  });

  test("refuses every swap of adjacent characters", () => {
    for (let i = 4; i + 1 < key.length; i++) {
      const swapped = key.slice(0, i) + key[i + 1] + key[i] + key.slice(i + 2);
      if (swapped !== key) expect(isWellFormedKey(swapped)).toBe(false);
    }
  });

  test.each([
    ["nothing", ""],
    ["a prefix", "shp_"],
    ["a shorter key", key.slice(0, -1)],
    ["a longer key", `${key}0`],
    ["a key with a line break", `${key}\n`],
    ["a key of a megabyte", key.repeat(25_000)],
    ["another prefix", `SHP_${key.slice(4)}`],
    ["a secret that is not base62 but has the right checksum", `shp_${"-".repeat(30)}${checksum("-".repeat(30))}`],
  ])("refuses %s", (_, text) => {
    expect(isWellFormedKey(text)).toBe(false);
  });
});

test("hashKey returns the SHA-256 in base64url", () => {
  // Test vector from NIST for "abc".
  expect(Buffer.from(hashKey("abc"), "base64url").toString("hex")).toBe(
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
  );
  expect(hashKey("abc")).toMatch(/^[\w-]{43}$/);
});

test("lastFour returns the last four characters of a key", () => {
  expect(lastFour("shp_abcdefgh")).toBe("efgh");
});
