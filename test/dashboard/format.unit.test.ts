import { expect, test } from "vitest";
import { moneyText } from "../../src/dashboard/ui/format.ts";

test.each([
  [12.5, "USD", "12.50"],
  [1234, "JPY", "1,234"],
  [1.234, "KWD", "1.234"],
  [1234.567, "IQD", "1,234.567"],
])("%d %s is shown with all that it has", (amount, currency, digits) => {
  expect(moneyText(amount, currency)).toContain(digits);
});
