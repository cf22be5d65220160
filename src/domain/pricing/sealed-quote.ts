import { createCipheriv, createDecipheriv, createSecretKey, randomFillSync, type KeyObject } from "node:crypto";
import type { Route } from "./pricing.ts";

/** A time window in milliseconds since the epoch, with its fee. */
interface QuotedWindow {
  readonly startMs: number;
  readonly endMs: number;
  readonly feeMinor: number;
}

/** Contents of a binding quote: the inputs of its price, its workspace and its expiry. */
export interface QuoteTerms {
  readonly workspace: number;
  readonly route: Route;
  readonly pickupWindow?: QuotedWindow | undefined;
  readonly dropoffWindow?: QuotedWindow | undefined;
  readonly tariffVersion: number;
  readonly expiresAtMs: number;
}

/** A key that encrypts quotes, with a unique id from 1 to 2^32 − 1. */
export interface QuoteKey {
  readonly id: number;
  readonly key: KeyObject;
}

export const QUOTE_KEY_BYTES = 32;

export function toQuoteKey(id: number, bytes: Uint8Array): QuoteKey {
  return { id, key: createSecretKey(bytes) };
}

/*
 * The id of a quote is `quo_` and the base64url of
 *
 *   id of the key, 4 bytes | nonce, 12 | ciphertext, 59 to 95 | tag, 16
 *
 * with AES-256-GCM (NIST SP 800-38D): 126 to 174 characters. Nonces are random, which is safe for 2^32
 * quotes per key. The plaintext is
 *
 *   form, 1 byte: 0, plus 1 with a pickup window, plus 2 with a dropoff window | workspace, 8 |
 *   pickup latitude and longitude, dropoff latitude and longitude, weight, 8 each | version, 4 |
 *   expiry, 6 | start, end and fee of each window, 6 each
 *
 * Times are whole milliseconds. Numbers are big-endian, those of 8 bytes IEEE 754 doubles.
 */
const PREFIX = "quo_";
const CIPHER = "aes-256-gcm";
const KEY_ID_BYTES = 4;
const NONCE_BYTES = 12;
const HEAD_BYTES = KEY_ID_BYTES + NONCE_BYTES;
const TAG_BYTES = 16;
const FIXED_BYTES = 59;
const WINDOW_BYTES = 18;
const WITH_PICKUP_WINDOW = 1;
const WITH_DROPOFF_WINDOW = 2;
const MIN_BYTES = HEAD_BYTES + FIXED_BYTES + TAG_BYTES;
const MAX_BYTES = MIN_BYTES + 2 * WINDOW_BYTES;

/** Format of a quote id, checked before decryption. */
const ID = new RegExp(`^${PREFIX}[A-Za-z0-9_-]{1,${Math.ceil((MAX_BYTES * 4) / 3)}}$`);

/** Returns the id of a quote. The id is the encrypted quote, which only holders of the key can create or read. */
export function sealQuote(quote: QuoteTerms, { id, key }: QuoteKey): string {
  const bytes = Buffer.allocUnsafe(MAX_BYTES);
  bytes.writeUInt32BE(id);
  const nonce = takeNonce();
  bytes.set(nonce, KEY_ID_BYTES);
  const end = writeQuote(quote, bytes, HEAD_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce);
  bytes.set(cipher.update(bytes.subarray(HEAD_BYTES, end)), HEAD_BYTES);
  cipher.final();
  bytes.set(cipher.getAuthTag(), end);
  return PREFIX + bytes.toString("base64url", 0, end + TAG_BYTES);
}

/** Writes the plaintext of a quote to `bytes` and returns its end offset. */
function writeQuote(quote: QuoteTerms, bytes: Buffer, begin: number): number {
  const { pickup, dropoff, weightKg } = quote.route;
  const { pickupWindow, dropoffWindow } = quote;
  const form =
    (pickupWindow === undefined ? 0 : WITH_PICKUP_WINDOW) + (dropoffWindow === undefined ? 0 : WITH_DROPOFF_WINDOW);
  let end = bytes.writeUInt8(form, begin);
  end = bytes.writeDoubleBE(quote.workspace, end);
  end = bytes.writeDoubleBE(pickup.lat, end);
  end = bytes.writeDoubleBE(pickup.lng, end);
  end = bytes.writeDoubleBE(dropoff.lat, end);
  end = bytes.writeDoubleBE(dropoff.lng, end);
  end = bytes.writeDoubleBE(weightKg, end);
  end = bytes.writeUInt32BE(quote.tariffVersion, end);
  end = bytes.writeUIntBE(quote.expiresAtMs, end, 6);
  if (pickupWindow !== undefined) end = writeWindow(pickupWindow, bytes, end);
  if (dropoffWindow !== undefined) end = writeWindow(dropoffWindow, bytes, end);
  return end;
}

function writeWindow(window: QuotedWindow, bytes: Buffer, begin: number): number {
  const { startMs, endMs, feeMinor } = window;
  const end = bytes.writeUIntBE(endMs, bytes.writeUIntBE(startMs, begin, 6), 6);
  return bytes.writeUIntBE(feeMinor, end, 6);
}

/**
 * Decrypts the id of a quote. Returns `undefined` if the id was not encrypted with a known key.
 *
 * @param keyOf returns the key with an id, or `undefined`
 */
export function openQuote(id: string, keyOf: (id: number) => QuoteKey | undefined): QuoteTerms | undefined {
  if (!ID.test(id)) return undefined;
  const text = id.slice(PREFIX.length);
  const bytes = Buffer.from(text, "base64url");
  // Rejects non-canonical base64url, so that a quote has exactly one id.
  if (bytes.length < MIN_BYTES || bytes.toString("base64url") !== text) return undefined;
  const key = keyOf(bytes.readUInt32BE());
  const plain = key && decrypt(bytes, key);
  return plain && readQuote(plain);
}

function decrypt(bytes: Buffer, { key }: QuoteKey): Buffer | undefined {
  const end = bytes.length - TAG_BYTES;
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(KEY_ID_BYTES, HEAD_BYTES));
  decipher.setAuthTag(bytes.subarray(end));
  try {
    const plain = decipher.update(bytes.subarray(HEAD_BYTES, end));
    decipher.final();
    return plain;
  } catch {
    return undefined;
  }
}

function readQuote(plain: Buffer): QuoteTerms {
  const form = plain.readUInt8();
  const double = (index: number) => plain.readDoubleBE(1 + 8 * index);
  let end = FIXED_BYTES;
  const readWindow = (flag: number): QuotedWindow | undefined => {
    if ((form & flag) === 0) return undefined;
    const window = {
      startMs: plain.readUIntBE(end, 6),
      endMs: plain.readUIntBE(end + 6, 6),
      feeMinor: plain.readUIntBE(end + 12, 6),
    };
    end += WINDOW_BYTES;
    return window;
  };
  return {
    workspace: double(0),
    route: {
      pickup: { lat: double(1), lng: double(2) },
      dropoff: { lat: double(3), lng: double(4) },
      weightKg: double(5),
    },
    tariffVersion: plain.readUInt32BE(49),
    expiresAtMs: plain.readUIntBE(53, 6),
    pickupWindow: readWindow(WITH_PICKUP_WINDOW),
    dropoffWindow: readWindow(WITH_DROPOFF_WINDOW),
  };
}

/** Buffer of random nonces. Generating them one at a time would take longer than the encryption. */
const nonces = Buffer.alloc(NONCE_BYTES * 512);
let noncesTaken = nonces.length;

function takeNonce(): Buffer {
  if (noncesTaken === nonces.length) {
    randomFillSync(nonces);
    noncesTaken = 0;
  }
  noncesTaken += NONCE_BYTES;
  return nonces.subarray(noncesTaken - NONCE_BYTES, noncesTaken);
}
