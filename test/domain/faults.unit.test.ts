import { expect, test } from "vitest";
import { createTariffFaults, isObject, quoted } from "../../src/domain/faults.ts";

test("collects faults in order up to the limit", () => {
  const faults = createTariffFaults(2);
  expect([faults.list, faults.full]).toEqual([[], false]);
  for (const path of ["a", "b", "c"]) faults.add(path, "is wrong");
  expect([faults.list, faults.full]).toEqual([
    [
      { path: "a", text: "is wrong" },
      { path: "b", text: "is wrong" },
    ],
    true,
  ]);
});

test.each([
  [undefined, "missing"],
  [null, "null"],
  [5, "5"],
  [true, "true"],
  ["a\nb", '"a\\nb"'],
  ["x".repeat(41), `"${"x".repeat(40)}…"`],
  [[1, 2], "a list"],
  [{ a: 1 }, "an object"],
])("quotes %j in shortened form", (value, expected) => {
  expect(quoted(value)).toBe(expected);
});

test("isObject accepts neither lists nor null", () => {
  expect([{}, [], null, "x", undefined].map(isObject)).toEqual([true, false, false, false, false]);
});
