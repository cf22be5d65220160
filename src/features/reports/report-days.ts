import { refuseAny, type Violation } from "../../domain/refusal.ts";

/** The days of a time zone that a report is about. */
export interface ReportDays {
  readonly timeZone: string;
  /** Each as `2026-11-01`, in order; from 1 to `MAX_DAYS`. */
  readonly dates: readonly string[];
  /**
   * When each begins, and when the last ends. A day of which clocks are put back or forward has 25 or 23
   * hours; one that a time zone left out, to be on the other side of the date line, has none.
   */
  readonly bounds: readonly Date[];
}

interface RequestedDays {
  readonly fromDate?: string;
  readonly toDate?: string;
}

const MAX_DAYS = 92;
/** How many days a report is about when the request does not say. */
const DEFAULT_DAYS = 30;

/**
 * The days of a report.
 *
 * @param requested each of the form `2026-11-01`, though perhaps no day of the calendar
 * @param timeZone the IANA name
 * @throws Refusal FIELD_INVALID
 */
export function parseReportDays(requested: RequestedDays, now: Date, timeZone: string): ReportDays {
  const violations: Violation[] = [];
  const parse = (field: string, text: string | undefined, orElse: Temporal.PlainDate) => {
    if (text === undefined) return orElse;
    const day = dayOf(text);
    if (day === undefined) {
      violations.push(fieldViolation(field, "must be a day of the calendar, such as 2026-11-01"));
    }
    return day ?? orElse;
  };
  const today = now.toTemporalInstant().toZonedDateTimeISO(timeZone).toPlainDate();
  const to = parse("to_date", requested.toDate, today);
  const from = parse("from_date", requested.fromDate, to.subtract({ days: DEFAULT_DAYS - 1 }));
  const count = from.until(to).days + 1;
  if (violations.length === 0 && count < 1) {
    violations.push(fieldViolation("from_date", "must not be after to_date"));
  }
  if (violations.length === 0 && count > MAX_DAYS) {
    violations.push(
      fieldViolation("from_date", `must be at most ${MAX_DAYS - 1} days before to_date`),
    );
  }
  refuseAny(violations.toReversed());
  const days = Array.from({ length: count + 1 }, (_, i) => from.add({ days: i }));
  return {
    timeZone,
    dates: days.slice(0, count).map(String),
    bounds: days.map((day) => new Date(day.toZonedDateTime(timeZone).epochMilliseconds)),
  };
}

function dayOf(text: string): Temporal.PlainDate | undefined {
  try {
    return Temporal.PlainDate.from(text);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function fieldViolation(subject: string, text: string): Violation {
  return { reason: "FIELD_INVALID", subject, text: `${subject} ${text}.` };
}
