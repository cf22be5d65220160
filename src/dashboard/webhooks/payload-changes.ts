/**
 * Returns the paths of fields whose values differ between two payloads, such as `customer.name`, in the order of the
 * later one. Values are JSON, `undefined` if the payload has no such field.
 */
export function payloadChanges(before: unknown, after: unknown) {
  const [old, current] = [new Map(leavesOf(before)), new Map(leavesOf(after))];
  return [...new Set([...current.keys(), ...old.keys()])]
    .map((field) => ({ field, before: old.get(field), after: current.get(field) }))
    .filter((change) => change.before !== change.after);
}

/** Returns the path and JSON of each value that is neither an object nor a list. */
function leavesOf(value: unknown, path: readonly string[] = []): (readonly [path: string, json: string])[] {
  if (typeof value !== "object" || value === null) return [[path.join("."), JSON.stringify(value)]];
  return Object.entries(value).flatMap(([name, part]) => leavesOf(part, [...path, name]));
}
