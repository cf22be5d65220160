import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const DOCUMENT: unknown = JSON.parse(readFileSync("gen/openapi/openapi.json", "utf8"));

/** Yields every object in a JSON document with its path. */
function* objectsIn(value: unknown, path = "#"): Generator<readonly [string, object]> {
  if (typeof value !== "object" || value === null) return;
  yield [path, value];
  for (const [name, it] of Object.entries(value)) yield* objectsIn(it, `${path}/${name}`);
}

test("no schema with an enum has a length or a pattern, which generators cannot combine", () => {
  const listed = [...objectsIn(DOCUMENT)].filter(([, it]) => "enum" in it && Array.isArray(it.enum));
  expect(listed.length).toBeGreaterThan(30);
  const combined = listed.filter(([, it]) => ["minLength", "maxLength", "pattern"].some((keyword) => keyword in it));
  expect(combined.map(([path]) => path)).toEqual([]);
});
