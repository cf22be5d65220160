import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  OverviewSchema,
  type Overview,
  type RevenueSchema,
} from "../../../gen/shipments/v1/report_pb.js";
import { toMajor } from "../../domain/pricing/money.ts";
import { USAGE_DAYS } from "./usage-counter.ts";
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

/**
 * The day in UTC on which a shipment was booked. Group by it, and cast only what has been grouped to text:
 * writing the day of every shipment as text takes half of the time.
 */
export const BOOKED_DATE = "(created_at at time zone 'UTC')::date";

/**
 * The figures of a group of shipments, as in `Booked`. A shipment that is paid or awaits its payment has
 * not been cancelled; revenue is what is paid.
 */
export const BOOKED_FIGURES = `
  count(*)::float8 as bookings,
  (count(*) filter (where status = 'cancelled'))::float8 as cancellations,
  (count(*) filter (where quoted))::float8 as quoted,
  coalesce(sum(total_minor) filter (where payment_status = 'paid'), 0)::float8 as "paidMinor",
  coalesce(sum(total_minor) filter (where payment_status = 'awaiting_payment'), 0)::float8
    as "awaitingMinor"`;

/** What was booked in one currency; amounts are in its minor unit. */
export interface Booked {
  readonly currency: string;
  readonly bookings: number;
  readonly cancellations: number;
  /** How many of the bookings were at a price that had been quoted. */
  readonly quoted: number;
  readonly paidMinor: number;
  readonly awaitingMinor: number;
}

/** What was booked in one currency on one day. */
export interface BookedOnDay extends Booked {
  /** As `2026-11-01`. */
  readonly date: string;
}

/** How many calls priced routes on one day. */
export interface QuotesOnDay {
  readonly date: string;
  readonly quotes: number;
}

/** Puts together the overview of days. */
export function overviewMessage(
  { dates }: ReportDays,
  booked: readonly BookedOnDay[],
  quoted: readonly QuotesOnDay[],
  now: Date,
): Overview {
  const bookedOn = Map.groupBy(booked, ({ date }) => date);
  const quotesOn = new Map(quoted.map(({ date, quotes }) => [date, quotes]));
  const keptFrom = dateOf(now.getTime() - (USAGE_DAYS - 1) * 24 * 60 * 60 * 1_000);
  const days = dates.map((date) => ({
    date,
    ...bookedMessage(bookedOn.get(date) ?? []),
    ...(date < keptFrom ? {} : { quotes: BigInt(quotesOn.get(date) ?? 0) }),
  }));
  const quotes = quoted.reduce((sum, each) => sum + each.quotes, 0);
  const totals = bookedMessage(booked);
  return create(OverviewSchema, {
    fromDate: dates[0]!,
    toDate: dates.at(-1)!,
    days,
    totals: {
      ...totals,
      ...(dates[0]! < keptFrom ? {} : quoteTotals(quotes, sumOf(booked, "quoted"))),
    },
  });
}

/** What share of quotes was booked cannot be known where one of them served several bookings. */
function quoteTotals(quotes: number, quoted: number) {
  const isKnown = quotes > 0 && quoted <= quotes;
  return { quotes: BigInt(quotes), ...(isKnown ? { quoteToBooking: quoted / quotes } : {}) };
}

/** The sums of what was booked, and the revenue in each currency that there was any in. */
export function bookedMessage(booked: readonly Booked[]) {
  return {
    bookings: BigInt(sumOf(booked, "bookings")),
    cancellations: BigInt(sumOf(booked, "cancellations")),
    revenue: [...Map.groupBy(booked, ({ currency }) => currency)]
      .filter(([, rows]) => sumOf(rows, "bookings") > sumOf(rows, "cancellations"))
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([currency, rows]) => revenueMessage(currency, rows)),
  };
}

function revenueMessage(
  currency: string,
  rows: readonly Booked[],
): MessageInitShape<typeof RevenueSchema> {
  return {
    currency,
    paid: toMajor(sumOf(rows, "paidMinor"), currency),
    awaitingPayment: toMajor(sumOf(rows, "awaitingMinor"), currency),
  };
}

function sumOf(rows: readonly Booked[], property: Exclude<keyof Booked, "currency">): number {
  return rows.reduce((sum, row) => sum + row[property], 0);
}
