import { MAX_PAGE_BYTES } from "./limits.ts";

/**
 * How many of these rows, from the first, fit on one page of `MAX_PAGE_BYTES`: at least one, so that
 * every list can be read to its end.
 *
 * @param bytesOf the most bytes a row may take in an answer
 */
export function countThatFit<Row>(rows: readonly Row[], bytesOf: (row: Row) => number): number {
  let bytes = 0;
  let count = 0;
  for (const row of rows) {
    bytes += bytesOf(row);
    if (bytes > MAX_PAGE_BYTES && count > 0) break;
    count++;
  }
  return count;
}

/** The bytes of a value as JSON, which no message with the same fields exceeds. */
export function jsonBytes(value: object): number {
  return Buffer.byteLength(JSON.stringify(value));
}
