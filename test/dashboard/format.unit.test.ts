import { expect, test } from "vitest";
import { degreesFrom, numberFrom } from "../../src/dashboard/ui/format.ts";

test.each([
  ["2.5", 2.5],
  [" 2,5 ", 2.5],
  ["1,500", NaN],
  ["1,500.5", NaN],
  ["two", NaN],
  ["", undefined],
])("%j is read as the number %j where numbers have a point", (text, number) => {
  expect(numberFrom(text)).toBe(number);
});

test("degrees have no thousands", () => {
  expect(degreesFrom("52,520")).toBe(52.52);
});
