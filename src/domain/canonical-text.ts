/** Maximum nesting depth of a document, in levels. A tariff needs 9. */
export const MAX_DEPTH = 100;

/**
 * Returns the JSON text of a value with sorted object keys and without white space. Documents that
 * differ only in white space and key order have the same text.
 *
 * @param value as parsed from JSON
 * @throws RangeError if the value is nested deeper than `MAX_DEPTH`
 */
export function canonicalText(value: unknown): string {
  return JSON.stringify(withSortedKeys(value, 0));
}

function withSortedKeys(value: unknown, depth: number): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (depth >= MAX_DEPTH) throw new RangeError(`nested deeper than ${MAX_DEPTH} levels`);
  if (Array.isArray(value)) {
    // Lists of numbers, such as positions, are not copied, because a tariff can have millions of them.
    const nested = value.some((item) => typeof item === "object");
    return nested ? value.map((item) => withSortedKeys(item, depth + 1)) : value;
  }
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, withSortedKeys(item, depth + 1)]),
  );
}
