import { expect, test } from "vitest";
import { feesOfText } from "../../src/dashboard/tariffs/draft-fields.ts";

/** The fees of a form with this base fee and this upper end of its tier. */
function fees(baseFee: string, maxKg = "5") {
  const tier = { key: 1, min_kg: "0", max_kg: maxKg, flat_fee: "0", rate_per_kg: "0" };
  const text = { name: "", currency: "usd", base_fee: baseFee, rate_per_km: "1", tiers: [tier] };
  const { baseFee: base, tiers } = feesOfText(text);
  return [base, tiers[0]!.maxKg];
}

test("a comma before decimals is read as a point", () => {
  expect(fees("1,5", "2,5")).toEqual(["1.5", 2.5]);
  expect(fees(" 12,50 ")).toEqual(["12.50", 5]);
});

test("a thousand with its comma is left to be refused, not taken for one", () => {
  expect(fees("1,000", "1,000")).toEqual(["1,000", NaN]);
  expect(fees("1,000.50")).toEqual(["1,000.50", 5]);
});
