import { create } from "@bufbuild/protobuf";
import { DeliveriesSchema, OverviewSchema, type Overview } from "../../../gen/shipments/v1/report_pb.js";
import { toMajor } from "../../domain/pricing/money.ts";
import { compileToMessage } from "../../json/records.ts";
import type { ReportDays } from "./report-days.ts";
import { USAGE_DAYS } from "./usage-counter.ts";

const HOUR_MS = 60 * 60 * 1_000;

/** SQL for the figures of a group of shipments, by name, amounts in minor units. `BookingDay` stores them in this order. */
const FIGURES = {
  bookings: "count(*)",
  cancellations: "count(*) filter (where status = 'cancelled')",
  quoted: "count(*) filter (where quoted)",
  paidMinor: "coalesce(sum(total_minor) filter (where payment_status = 'paid'), 0)",
  awaitingMinor: "coalesce(sum(total_minor) filter (where payment_status = 'awaiting_payment'), 0)",
  paid: "count(*) filter (where payment_status in ('paid', 'refund_pending', 'refunded'))",
  pickedUp: "count(*) filter (where status in ('in_transit', 'delivered', 'returned'))",
  delivered: "count(*) filter (where status = 'delivered')",
  failedAttempts: "coalesce(sum(jsonb_array_length(progress -> 'attempts')), 0)",
  withWindow: "count(*) filter (where delivered_at is not null and windows #>> '{dropoff,end}' is not null)",
  onTime: "count(*) filter (where delivered_at <= (windows #>> '{dropoff,end}')::timestamptz)",
};

type Figure = keyof typeof FIGURES;

export const FIGURE_NAMES = Object.keys(FIGURES) as readonly Figure[];

/** Returns SQL for figures of a group of shipments. */
export function figuresSql(...names: readonly Figure[]): string {
  return names.map((name) => `(${FIGURES[name]})::float8 as "${name}"`).join(", ");
}

const COURIER = "(progress #>> '{courier,name}')";

/** Value of `grouping` in `bookedBy` for each kind of group. */
export const GROUPED_BY = { courier: 1, zone: 2, neither: 3 } as const;

/**
 * Returns SQL that sums up shipments in three ways: by the given columns, by these columns and the courier, and by
 * these columns and the zone.
 *
 * @param columns selected expressions
 * @param names names of these expressions
 */
export function bookedBy(columns: string, names: string, from: string): string {
  return `
    select ${columns}, ${figuresSql(...FIGURE_NAMES)}, grouping(${COURIER}, dropoff_zone) as kind,
      coalesce(${COURIER}, dropoff_zone) as name
    ${from}
    group by grouping sets ((${names}), (${names}, ${COURIER}), (${names}, dropoff_zone))`;
}

/** Revenue in one currency, in minor units. */
export interface Revenue {
  readonly currency: string;
  readonly bookings: number;
  readonly cancellations: number;
  readonly paidMinor: number;
  readonly awaitingMinor: number;
}

export interface Booked extends Revenue {
  readonly quoted: number;
}

const DELIVERY_FIGURES = [
  "bookings",
  "paid",
  "pickedUp",
  "delivered",
  "failedAttempts",
  "withWindow",
  "onTime",
] as const satisfies readonly Figure[];

/** Figures of the delivery of a group of shipments. */
export type Delivered = Readonly<Record<(typeof DELIVERY_FIGURES)[number], number>>;

const toDeliveries = compileToMessage(DeliveriesSchema);

export interface BookedOnDay extends Booked {
  /** Date, such as `2026-11-01`. */
  readonly date: string;
}

export interface QuotesOnDay {
  readonly date: string;
  readonly quotes: number;
}

export function overviewMessage(
  { timeZone, dates, bounds }: ReportDays,
  booked: readonly BookedOnDay[],
  quoted: readonly QuotesOnDay[],
  now: Date,
): Overview {
  const bookedOn = Map.groupBy(booked, ({ date }) => date);
  const quotesOn = new Map(quoted.map(({ date, quotes }) => [date, quotes]));
  const keptFromMs = now.getTime() - USAGE_DAYS * 24 * HOUR_MS;
  /**
   * Whether all quote counts of a day are still stored. Counts are deleted in whole hours, but a day can begin in the
   * middle of an hour.
   */
  const areQuotesKept = (day: number) => bounds[day]!.getTime() >= Math.ceil(keptFromMs / HOUR_MS) * HOUR_MS;
  const days = dates.map((date, i) => ({
    date,
    ...bookedMessage(bookedOn.get(date) ?? []),
    ...(areQuotesKept(i) ? { quotes: BigInt(quotesOn.get(date) ?? 0) } : {}),
  }));
  const quotes = quoted.reduce((sum, each) => sum + each.quotes, 0);
  const quotedBookings = sumOf(booked, "quoted");
  return create(OverviewSchema, {
    timeZone,
    fromDate: dates[0]!,
    toDate: dates.at(-1)!,
    days,
    totals: {
      ...bookedMessage(booked),
      quotedBookings: BigInt(quotedBookings),
      ...(areQuotesKept(0) ? quoteTotals(quotes, quotedBookings) : {}),
    },
  });
}

/**
 * Returns the totals of quotes. Omits the share of booked quotes if it would exceed 1, because a quote can be booked
 * several times.
 */
function quoteTotals(quotes: number, quoted: number) {
  const isKnown = quotes > 0 && quoted <= quotes;
  return { quotes: BigInt(quotes), ...(isKnown ? { quoteToBooking: quoted / quotes } : {}) };
}

/**
 * Returns the number of bookings and cancellations, and the revenue in each currency with bookings
 * that were not cancelled.
 */
export function bookedMessage(booked: readonly Revenue[]) {
  return {
    bookings: BigInt(sumOf(booked, "bookings")),
    cancellations: BigInt(sumOf(booked, "cancellations")),
    revenue: [...Map.groupBy(booked, ({ currency }) => currency)]
      .filter(([, rows]) => sumOf(rows, "bookings") > sumOf(rows, "cancellations"))
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([currency, rows]) => revenueMessage(currency, rows)),
  };
}

function revenueMessage(currency: string, rows: readonly Revenue[]) {
  return {
    currency,
    paid: toMajor(sumOf(rows, "paidMinor"), currency),
    awaitingPayment: toMajor(sumOf(rows, "awaitingMinor"), currency),
  };
}

/** Sums up figures of deliveries, optionally those of a courier or zone. */
export function deliveryMessage(groups: readonly Delivered[], name?: string | null) {
  const figures = DELIVERY_FIGURES.map((figure) => [figure, sumOf(groups, figure)]);
  return toDeliveries({ name, ...(Object.fromEntries(figures) as Delivered) });
}

function sumOf<Name extends string>(rows: readonly Readonly<Record<Name, number>>[], figure: Name): number {
  return rows.reduce((sum, row) => sum + row[figure], 0);
}
