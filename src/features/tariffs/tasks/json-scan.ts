import { MAX_POSITIONS, TOO_MANY_POSITIONS } from "../../../domain/coverage/parse-zones.ts";

/** Maximum memory of parsed zones, in bytes. Enough for 5,000,000 positions in separate triangles. */
const MAX_PARSED_BYTES = 576 * 1024 * 1024;

/**
 * Returns why zones are too large to be parsed, without parsing them. Returns `undefined` if they can be parsed.
 *
 * @param chunks chunks of their text, in order
 */
export function oversizeOf(chunks: Iterable<Uint8Array>): string | undefined {
  const scan = createJsonScan();
  for (const chunk of chunks) {
    scan.read(chunk);
    if (scan.positions() > MAX_POSITIONS) return TOO_MANY_POSITIONS;
    if (scan.parsedBytes() > MAX_PARSED_BYTES) return TOO_MUCH_MEMORY;
  }
  return undefined;
}

export const TOO_MUCH_MEMORY = "the zones need too much memory. Remove properties or simplify the outlines";

/*
 * Sizes in V8 on 64-bit machines. A comma counts as a slot in a list that grows by doubling. A key
 * counts as unique, or as an entry in a hash table that is being resized to twice its size. Numbers
 * in mixed lists are allocated separately, but those of a position are not.
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

/** Maximum number of commas in a position, which may have an altitude. */
const POSITION_COMMAS = 2;

/**
 * Creates a scanner that estimates the memory of parsed JSON from chunks of its text, so that a
 * document can be rejected before it is parsed. Accepts any bytes. On invalid JSON, the parser
 * fails before it uses more memory than estimated.
 */
export function createJsonScan() {
  let inString = false;
  let isEscaped = false;
  /** Number of characters of the current string that match `COORDINATES`, or -1 if it differs. */
  let matched = -1;
  let depth = 0;
  /** Number of commas since the last bracket. */
  let commas = 0;
  /** Depth of the enclosing `coordinates` list, 0 if there is none. */
  let coordinatesDepth = 0;
  /** Last byte outside strings that is not white space. For a string, its quote. */
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
    read(chunk: Uint8Array): void {
      for (let i = 0; i < chunk.length; i++) {
        const byte = chunk[i]!;
        if (inString) readInString(byte);
        else if (byte > SPACE) readOutside(byte);
      }
    },
    /** Returns the number of positions, that is, lists in `coordinates` that begin with a number. */
    positions: () => positions,
    /** Returns an approximate upper bound for the memory of the parsed value, in bytes, even for unusual texts. */
    parsedBytes: () => parsedBytes,
  };
}

function beginsNumber(byte: number): boolean {
  return byte === MINUS || (byte >= ZERO && byte <= NINE);
}
