/** How deeply a document may be nested; a tariff needs 9 levels. */
export const MAX_DEPTH = 100;

/**
 * The JSON text of a value with every object's keys in one fixed order and without white space:
 * two documents have the same text exactly when they differ in nothing but white space and the order
 * of keys. The order of lists counts, and so does every key, known or not.
 *
 * @param value as parsed from JSON
 * @throws RangeError when it is nested deeper than 100 levels.
 */
export function canonicalText(value: unknown): string {
  return JSON.stringify(withSortedKeys(value, 0));
}

function withSortedKeys(value: unknown, depth: number): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (depth >= MAX_DEPTH) throw new RangeError(`nested deeper than ${MAX_DEPTH} levels`);
  if (Array.isArray(value)) {
    // Lists of numbers, which positions are, need no copy: a tariff may have millions.
    const nested = value.some((item) => typeof item === "object");
    return nested ? value.map((item) => withSortedKeys(item, depth + 1)) : value;
  }
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, withSortedKeys(item, depth + 1)]),
  );
}
