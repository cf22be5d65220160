import { describe, expect, test } from "vitest";
import { Refusal } from "../../../src/domain/refusal.ts";
import { parseReportDays } from "../../../src/features/reports/overview.ts";

const NOW = new Date("2028-03-01T23:59:59.999Z");

function boundsOf(requested: { fromDate?: string; toDate?: string }) {
  const { dates, startsAt, endsAt } = parseReportDays(requested, NOW);
  return [dates[0], dates.at(-1), dates.length, startsAt.toISOString(), endsAt.toISOString()];
}

test.each([
  ["neither day", {}, ["2028-02-01", "2028-03-01", 30]],
  ["the first day", { fromDate: "2028-02-28" }, ["2028-02-28", "2028-03-01", 3]],
  ["the last day", { toDate: "2027-01-10" }, ["2026-12-12", "2027-01-10", 30]],
  ["one day", { fromDate: "2028-02-29", toDate: "2028-02-29" }, ["2028-02-29", "2028-02-29", 1]],
  ["92 days", { fromDate: "2028-05-01", toDate: "2028-07-31" }, ["2028-05-01", "2028-07-31", 92]],
])("a request that gives %s", (_, requested, [first, last, count]) => {
  const after = new Date(Date.parse(`${last}T00:00:00Z`) + 86_400_000).toISOString();
  expect(boundsOf(requested)).toEqual([first, last, count, `${first}T00:00:00.000Z`, after]);
});

describe("days that cannot be reported are refused at their fields", () => {
  const noDay = (field: string) => ({
    reason: "FIELD_INVALID",
    subject: field,
    text: `${field} must be a day of the calendar, such as 2026-11-01.`,
  });
  const fromDate = (text: string) => ({ reason: "FIELD_INVALID", subject: "from_date", text });
  test.each([
    ["a day that February lacks", { fromDate: "2027-02-29" }, [noDay("from_date")]],
    [
      "a month and a day that there are not",
      { fromDate: "2027-13-01", toDate: "2027-04-31" },
      [noDay("from_date"), noDay("to_date")],
    ],
    [
      "a first day after the last",
      { fromDate: "2027-04-02", toDate: "2027-04-01" },
      [fromDate("from_date must not be after to_date.")],
    ],
    [
      "93 days",
      { fromDate: "2028-05-01", toDate: "2028-08-01" },
      [fromDate("from_date must be at most 91 days before to_date.")],
    ],
  ])("%s", (_, requested, violations) => {
    const refused = () => parseReportDays(requested, NOW);
    expect(refused).toThrow(Refusal);
    try {
      refused();
    } catch (error) {
      expect((error as Refusal).violations).toEqual(violations);
    }
  });
});
