import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { OverviewSchema } from "../../gen/shipments/v1/report_pb.js";
import { changeOf } from "../../src/dashboard/reports/difference.ts";

/** Returns an overview of consecutive days from a date in March 2026, with these bookings. */
const overviewOf = (first: number, counts: readonly number[]) =>
  create(OverviewSchema, {
    days: counts.map((count, i) => ({
      date: `2026-03-${String(first + i).padStart(2, "0")}`,
      bookings: BigInt(count),
    })),
  });

test.each([
  ["more", [6, 6], [4, 4], "2026-03-13", 0.5],
  ["fewer", [1, 2], [3, 3], "2026-03-13", -0.5],
  ["the same number", [1, 2], [2, 1], "2026-03-13", 0],
  ["none in the previous period", [1, 2], [0, 0], "2026-03-13", undefined],
  ["an incomplete day, which is excluded with its counterpart", [3, 1], [2, 100], "2026-03-12", 0.5],
  ["no complete day", [3, 1], [2, 100], "2026-03-11", undefined],
  ["no previous period", [3, 1], undefined, "2026-03-13", undefined],
])("compares days with %s", (_, now, then, today, change) => {
  const comparison = { overview: overviewOf(11, now), before: then && overviewOf(9, then), today };
  expect(changeOf(comparison, ({ bookings }) => Number(bookings))).toBe(change);
});
