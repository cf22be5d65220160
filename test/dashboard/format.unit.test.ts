import { expect, test } from "vitest";
import { degreesFrom, moneyText, numberFrom } from "../../src/dashboard/ui/format.ts";

test.each([
  [12.5, "USD", "12.50"],
  [1234, "JPY", "1,234"],
  [1.234, "KWD", "1.234"],
  [1234.567, "IQD", "1,234.567"],
])("%d %s is shown with all its decimals", (amount, currency, digits) => {
  expect(moneyText(amount, currency)).toContain(digits);
});

test.each([
  ["2.5", 2.5],
  [" 2,5 ", 2.5],
  ["1,500", NaN],
  ["1,500.5", NaN],
  ["two", NaN],
  ["", undefined],
])("%j is read as %j if the locale uses a decimal point", (text, number) => {
  expect(numberFrom(text)).toBe(number);
});

test("degrees have no thousands separator", () => {
  expect(degreesFrom("52,520")).toBe(52.52);
});
