import { Refusal, type Violation } from "../../domain/refusal.ts";

/** The days in UTC that a report is about. */
export interface ReportDays {
  /** Each as `2026-11-01`, in order; from 1 to `MAX_DAYS`. */
  readonly dates: readonly string[];
  /** When the first begins. */
  readonly startsAt: Date;
  /** When the last ends. */
  readonly endsAt: Date;
}

/** The days as a request names them, each as `2026-11-01`. */
interface RequestedDays {
  readonly fromDate?: string;
  readonly toDate?: string;
}

/** The most days of one report. */
const MAX_DAYS = 92;
/** How many days a report is about when the request does not say. */
const DEFAULT_DAYS = 30;
const DAY_MS = 24 * 60 * 60 * 1_000;

/**
 * The days of a report.
 *
 * @param requested each of the form `2026-11-01`, though perhaps no day of the calendar
 * @throws Refusal FIELD_INVALID
 */
export function parseReportDays(requested: RequestedDays, now: Date): ReportDays {
  const violations: Violation[] = [];
  const parse = (field: string, text: string | undefined, orElseMs: number): number => {
    if (text === undefined) return orElseMs;
    const ms = Date.parse(`${text}T00:00:00Z`);
    if (!Number.isNaN(ms) && dateOf(ms) === text) return ms;
    violations.push(fieldViolation(field, "must be a day of the calendar, such as 2026-11-01"));
    return orElseMs;
  };
  const todayMs = Math.floor(now.getTime() / DAY_MS) * DAY_MS;
  const toMs = parse("to_date", requested.toDate, todayMs);
  const fromMs = parse("from_date", requested.fromDate, toMs - (DEFAULT_DAYS - 1) * DAY_MS);
  if (violations.length === 0 && fromMs > toMs) {
    violations.push(fieldViolation("from_date", "must not be after to_date"));
  }
  if (violations.length === 0 && toMs - fromMs >= MAX_DAYS * DAY_MS) {
    violations.push(
      fieldViolation("from_date", `must be at most ${MAX_DAYS - 1} days before to_date`),
    );
  }
  if (violations.length > 0)
    throw new Refusal(violations.toReversed() as [Violation, ...Violation[]]);
  const count = (toMs - fromMs) / DAY_MS + 1;
  return {
    dates: Array.from({ length: count }, (_, i) => dateOf(fromMs + i * DAY_MS)),
    startsAt: new Date(fromMs),
    endsAt: new Date(toMs + DAY_MS),
  };
}

/** The day in UTC, as `2026-11-01`. */
export function dateOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

function fieldViolation(subject: string, text: string): Violation {
  return { reason: "FIELD_INVALID", subject, text: `${subject} ${text}.` };
}
