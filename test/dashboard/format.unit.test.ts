import { expect, test } from "vitest";
import { degreesFrom, moneyText, numberFrom, relativeText } from "../../src/dashboard/ui/format.ts";

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

test.each([
  ["2026-12-01T12:00:00Z", "now"],
  ["2026-11-30T13:00:00Z", "23 hr. ago"],
  ["2026-11-30T12:00:00Z", "yesterday"],
  ["2026-11-29T13:00:00Z", "2 days ago"],
  ["2026-12-03T11:00:00Z", "in 2 days"],
  ["2026-12-08T12:00:01Z", "Dec 8"],
])("%s is %s on December 1 at noon", (date, text) => {
  expect(relativeText(new Date(date), new Date("2026-12-01T12:00:00Z"), "UTC")).toBe(text);
});

test("days are those of the time zone", () => {
  const [date, now] = [new Date("2026-11-30T03:00Z"), new Date("2026-12-01T05:30Z")];
  expect(relativeText(date, now, "America/New_York")).toBe("2 days ago");
  expect(relativeText(date, now, "UTC")).toBe("yesterday");
});
