import { describe, expect, test } from "vitest";
import { Refusal } from "../../../src/domain/refusal.ts";
import { parseReportDays } from "../../../src/features/reports/report-days.ts";

const NOW = new Date("2028-03-01T23:59:59.999Z");

function boundsOf(requested: { fromDate?: string; toDate?: string }) {
  const { dates, bounds } = parseReportDays(requested, NOW, "UTC");
  const [first, last] = [bounds[0]!, bounds.at(-1)!];
  return [dates[0], dates.at(-1), dates.length, first.toISOString(), last.toISOString()];
}

test.each([
  ["neither date", {}, ["2028-02-01", "2028-03-01", 30]],
  ["the first date", { fromDate: "2028-02-28" }, ["2028-02-28", "2028-03-01", 3]],
  ["the last date", { toDate: "2027-01-10" }, ["2026-12-12", "2027-01-10", 30]],
  ["one day", { fromDate: "2028-02-29", toDate: "2028-02-29" }, ["2028-02-29", "2028-02-29", 1]],
  ["92 days", { fromDate: "2028-05-01", toDate: "2028-07-31" }, ["2028-05-01", "2028-07-31", 92]],
])("accepts a request with %s", (_, requested, [first, last, count]) => {
  const after = new Date(Date.parse(`${last}T00:00:00Z`) + 86_400_000).toISOString();
  expect(boundsOf(requested)).toEqual([first, last, count, `${first}T00:00:00.000Z`, after]);
});

test.each([
  // Daylight saving time begins on March 29 at 2:00 and ends on October 25 at 3:00.
  ["Europe/Berlin", "2026-03-28", ["03-27T23", "03-28T23", "03-29T22"]],
  ["Europe/Berlin", "2026-10-24", ["10-23T22", "10-24T22", "10-25T23"]],
  ["America/New_York", "2026-03-07", ["03-07T05", "03-08T05", "03-09T04"]],
  ["America/New_York", "2026-10-31", ["10-31T04", "11-01T04", "11-02T05"]],
])("days in %s from %s on start at local midnight", (timeZone, fromDate, hours) => {
  const toDate = Temporal.PlainDate.from(fromDate).add({ days: 1 }).toString();
  const { bounds } = parseReportDays({ fromDate, toDate }, NOW, timeZone);
  expect(bounds.map((at) => at.toISOString())).toEqual(
    hours.map((hour) => expect.stringMatching(new RegExp(`${hour}:00:00.000Z$`))),
  );
});

test("days follow a time zone with an offset of three quarters of an hour", () => {
  const { dates, bounds } = parseReportDays({ fromDate: "2028-03-01" }, NOW, "Asia/Kathmandu");
  // At 23:59 UTC, the next day has begun in this time zone.
  expect(dates).toEqual(["2028-03-01", "2028-03-02"]);
  expect(bounds.map((at) => at.toISOString())).toEqual([
    "2028-02-29T18:15:00.000Z",
    "2028-03-01T18:15:00.000Z",
    "2028-03-02T18:15:00.000Z",
  ]);
});

test("the day that Samoa skipped has no hours", () => {
  const requested = { fromDate: "2011-12-29", toDate: "2011-12-31" };
  const { dates, bounds } = parseReportDays(requested, NOW, "Pacific/Apia");
  expect(dates).toEqual(["2011-12-29", "2011-12-30", "2011-12-31"]);
  expect(bounds.map((at) => at.toISOString())).toEqual([
    "2011-12-29T10:00:00.000Z",
    "2011-12-30T10:00:00.000Z",
    "2011-12-30T10:00:00.000Z",
    "2011-12-31T10:00:00.000Z",
  ]);
});

describe("rejects invalid days by field", () => {
  const noDay = (field: string) => ({
    reason: "FIELD_INVALID",
    subject: field,
    text: `${field} must be a calendar date, such as 2026-11-01.`,
  });
  const fromDate = (text: string) => ({ reason: "FIELD_INVALID", subject: "from_date", text });
  test.each([
    ["a day that February does not have", { fromDate: "2027-02-29" }, [noDay("from_date")]],
    [
      "an invalid month and day",
      { fromDate: "2027-13-01", toDate: "2027-04-31" },
      [noDay("from_date"), noDay("to_date")],
    ],
    [
      "a first date after the last",
      { fromDate: "2027-04-02", toDate: "2027-04-01" },
      [fromDate("from_date must not be after to_date.")],
    ],
    [
      "93 days",
      { fromDate: "2028-05-01", toDate: "2028-08-01" },
      [fromDate("from_date must be at most 91 days before to_date.")],
    ],
  ])("%s", (_, requested, violations) => {
    const refused = () => parseReportDays(requested, NOW, "UTC");
    expect(refused).toThrow(Refusal);
    try {
      refused();
    } catch (error) {
      expect((error as Refusal).violations).toEqual(violations);
    }
  });
});
