import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { OverviewSchema } from "../../gen/shipments/v1/report_pb.js";
import { differenceText } from "../../src/dashboard/reports/difference.ts";

/** Returns an overview of consecutive days from a date in March 2026, with these bookings. null means unknown. */
const overviewOf = (first: number, bookings: readonly (number | null)[]) =>
  create(OverviewSchema, {
    days: bookings.map((count, i) => ({
      date: `2026-03-${String(first + i).padStart(2, "0")}`,
      ...(count === null ? {} : { quotes: BigInt(count) }),
    })),
  });

test.each([
  ["more", [6, 6], [4, 4], "Up 50%"],
  ["fewer", [1, 2], [3, 3], "Down 50%"],
  ["the same number", [1, 2], [2, 1], "No change"],
  ["none in the previous period", [1, 2], [0, 0], "Zero in the previous period"],
  ["none in both periods", [0, 0], [0, 0], "Zero in both periods"],
  ["an unknown number", [1, 2], [1, null], undefined],
])("compares days with %s", (_, now, then, text) => {
  const comparison = {
    overview: overviewOf(11, now),
    before: overviewOf(9, then),
    today: "2026-03-13",
  };
  const quotesOf = ({ quotes }: { quotes?: bigint }) => (quotes === undefined ? undefined : Number(quotes));
  expect(differenceText(comparison, quotesOf)).toBe(text);
  expect(differenceText({ ...comparison, before: undefined }, quotesOf)).toBe(undefined);
});

test("excludes an incomplete day and its counterpart from the comparison and says so", () => {
  const [overview, before] = [overviewOf(11, [3, 1]), overviewOf(9, [2, 100])];
  const quotesOf = ({ quotes }: { quotes?: bigint }) => Number(quotes);
  expect(differenceText({ overview, before, today: "2026-03-12" }, quotesOf)).toBe("Up 50% on complete days");
  expect(differenceText({ overview, before, today: "2026-03-11" }, quotesOf)).toBe(undefined);
});
