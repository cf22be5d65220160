import { expect, test } from "vitest";
import { moneyText, sumOf } from "../../src/dashboard/parts/format.ts";

test.each([
  [12.5, "USD", "12.50"],
  [1234, "JPY", "1,234"],
  [1.234, "KWD", "1.234"],
  [1234.567, "IQD", "1,234.567"],
])("%d %s is shown with all that it has", (amount, currency, digits) => {
  expect(moneyText(amount, currency)).toContain(digits);
});

test("a sum is exact to the smallest unit of any currency", () => {
  expect(sumOf(0.1, 0.2)).toBe(0.3);
  expect(sumOf(1.234, 0.001)).toBe(1.235);
});
