import { fieldViolation, refuseAny, type Violation } from "../../domain/refusal.ts";

export interface ReportDays {
  readonly timeZone: string;
  /** Dates such as `2026-11-01`, in order. From 1 to `MAX_DAYS` dates. */
  readonly dates: readonly string[];
  /**
   * Start of each day, and end of the last day. A day with a clock change has 23 or 25 hours. A date that the time zone
   * skipped has 0 hours.
   */
  readonly bounds: readonly Date[];
}

interface RequestedDays {
  readonly fromDate?: string;
  readonly toDate?: string;
}

const MAX_DAYS = 92;
const DEFAULT_DAYS = 30;

/**
 * Parses the days of a report. By default, the last 30 days.
 *
 * @param requested dates such as `2026-11-01`, not yet validated
 * @param timeZone IANA name
 * @throws Refusal FIELD_INVALID
 */
export function parseReportDays(requested: RequestedDays, now: Date, timeZone: string): ReportDays {
  const violations: Violation[] = [];
  const parse = (field: string, text: string | undefined, orElse: Temporal.PlainDate) => {
    if (text === undefined) return orElse;
    const day = dayOf(text);
    if (day === undefined) {
      violations.push(fieldViolation(field, "must be a calendar date, such as 2026-11-01."));
    }
    return day ?? orElse;
  };
  const today = now.toTemporalInstant().toZonedDateTimeISO(timeZone).toPlainDate();
  const to = parse("to_date", requested.toDate, today);
  const from = parse("from_date", requested.fromDate, to.subtract({ days: DEFAULT_DAYS - 1 }));
  const count = from.until(to).days + 1;
  if (violations.length === 0 && count < 1) {
    violations.push(fieldViolation("from_date", "must not be after to_date."));
  }
  if (violations.length === 0 && count > MAX_DAYS) {
    violations.push(fieldViolation("from_date", `must be at most ${MAX_DAYS - 1} days before to_date.`));
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
