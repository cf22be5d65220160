import { MAX_POSITIONS, TOO_MANY_POSITIONS } from "../../../domain/coverage/parse-zones.ts";

/**
 * How much memory zones may take, when they are parsed: 5,000,000 positions fit, each corner of a triangle of its own.
 */
export const MAX_PARSED_BYTES = 576 * 1024 * 1024;

/**
 * Why zones must not be parsed, found without parsing them; undefined when they may be.
 *
 * @param pieces of their text, in order
 */
export function oversizeOf(pieces: Iterable<Uint8Array>): string | undefined {
  const scan = createJsonScan();
  for (const piece of pieces) {
    scan.read(piece);
    if (scan.positions() > MAX_POSITIONS) return TOO_MANY_POSITIONS;
    if (scan.parsedBytes() > MAX_PARSED_BYTES) return TOO_MUCH_MEMORY;
  }
  return undefined;
}

/** Why zones are refused that need more memory than there is for them. */
export const TOO_MUCH_MEMORY =
  "the zones take too much memory; give them fewer properties, or simplify them";

/*
 * As V8 keeps them on a machine of 64 bits. A comma is counted as a slot that grew by doubling, and a key
 * as one that no other object has, or one of very many, whose table is made anew, twice as large, while the
 * one before is still there. Numbers are kept apart from a list that holds something else, too; those of a
 * position are not.
 */
const NESTED_BYTES = 56;
const STRING_BYTES = 48;
const COMMA_BYTES = 12;
const NUMBER_BYTES = 16;
const KEY_BYTES = 150;

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const BEGIN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const END_LIST = 0x5d;
const BEGIN_OBJECT = 0x7b;
const END_OBJECT = 0x7d;
const SPACE = 0x20;

const COORDINATES = Buffer.from("coordinates");

/** How many commas a position has at most, with an altitude. */
const POSITION_COMMAS = 2;

/**
 * Looks through the bytes of a JSON text, piece by piece, without making anything of it: what a parser
 * would need memory for can be refused before it is parsed. Takes any bytes; of those that are no JSON
 * it says no more than that a parser would give up at least as early.
 */
export function createJsonScan() {
  let inString = false;
  let isEscaped = false;
  /** How much of `COORDINATES` the string is so far; -1 when it is another. */
  let matched = -1;
  let depth = 0;
  /** Since the last bracket. */
  let commas = 0;
  /** How deep the list of coordinates is that this is in; 0 for none. */
  let coordinatesDepth = 0;
  /** The last byte outside of strings that is no white space; a quote for a whole string. */
  let previous = 0;
  let positions = 0;
  let parsedBytes = 0;

  function readInString(byte: number): void {
    parsedBytes++;
    if (isEscaped) isEscaped = false;
    else if (byte === BACKSLASH) isEscaped = true;
    else if (byte === QUOTE) {
      inString = false;
      previous = QUOTE;
      return;
    }
    matched = matched >= 0 && byte === COORDINATES[matched] ? matched + 1 : -1;
  }

  function readOutside(byte: number): void {
    if (byte === QUOTE) {
      inString = true;
      matched = 0;
      parsedBytes += STRING_BYTES;
    } else if (byte === BEGIN_LIST || byte === BEGIN_OBJECT) {
      depth++;
      commas = 0;
      parsedBytes += NESTED_BYTES;
      const isNamed = previous === COLON && matched === COORDINATES.length;
      if (isNamed && byte === BEGIN_LIST && coordinatesDepth === 0) coordinatesDepth = depth;
    } else if (byte === END_LIST || byte === END_OBJECT) {
      if (depth-- === coordinatesDepth) coordinatesDepth = 0;
      commas = 0;
    } else if (byte === COMMA) {
      parsedBytes += ++commas > POSITION_COMMAS ? COMMA_BYTES + NUMBER_BYTES : COMMA_BYTES;
    } else if (byte === COLON) parsedBytes += KEY_BYTES;
    else if (previous === BEGIN_LIST && coordinatesDepth > 0 && beginsNumber(byte)) positions++;
    previous = byte;
  }

  return {
    /** Reads on. */
    read(piece: Uint8Array): void {
      for (let i = 0; i < piece.length; i++) {
        const byte = piece[i]!;
        if (inString) readInString(byte);
        else if (byte > SPACE) readOutside(byte);
      }
    },
    /** How many positions are in lists called `coordinates`: lists that begin with a number. */
    positions: () => positions,
    /** About how much memory the parsed value takes, in bytes; what strange texts can take, too. */
    parsedBytes: () => parsedBytes,
  };
}

function beginsNumber(byte: number): boolean {
  return byte === MINUS || (byte >= ZERO && byte <= NINE);
}
