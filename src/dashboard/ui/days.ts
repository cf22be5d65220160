import { timestampFromDate, type Timestamp } from "@bufbuild/protobuf/wkt";

/**
 * The bounds of a filter by days of the reader's own time zone, both included, for a request whose
 * bounds are exclusive. Days are as `2026-11-01`; a bound is undefined without one.
 */
export function boundsOfDays(
  first: string | undefined,
  last: string | undefined,
): { readonly createdAfter: Timestamp | undefined; readonly createdBefore: Timestamp | undefined } {
  // What was made in the first millisecond of a day belongs to it.
  return { createdAfter: dayStart(first, 0, -1), createdBefore: dayStart(last, 1, 0) };
}

/** When a day begins, or one some days later, moved by some milliseconds. */
function dayStart(day: string | undefined, daysLater: number, ms: number): Timestamp | undefined {
  const [year, month, date] = (day ?? "").split("-").map(Number);
  if (!year || !month || !date) return undefined;
  return timestampFromDate(new Date(new Date(year, month - 1, date + daysLater).getTime() + ms));
}
