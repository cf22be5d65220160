import {
  type Deliveries,
  type OverviewDay,
  type OverviewTotals,
  type Revenue,
} from "../../../gen/shipments/v1/report_pb.js";
import { PaymentStatus, ShipmentStatus } from "../../../gen/shipments/v1/shipment_pb.js";
import { BarList, LineChart, type LinePoint } from "../ui/charts.tsx";
import { dayText } from "../ui/days.tsx";
import { Figures, Linked, type Figure } from "../ui/description-list.tsx";
import { compactText, moneyText, numberText, shareText } from "../ui/format.ts";
import { clockText } from "../ui/local-time.ts";
import { Section } from "../ui/page.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { Money } from "../ui/values.tsx";
import { changeOf, type Comparison } from "./difference.ts";

/** Returns the URL of the period's shipments with additional filters. */
type HrefOf = (filters: Readonly<Record<string, string>>) => string;

export function OverviewFigures({ hrefOf, ...comparison }: Comparison & { readonly hrefOf?: HrefOf }) {
  const { overview, before } = comparison;
  const { bookings, cancellations, revenue } = overview.totals!;
  const changeIn = (valueOf: (day: OverviewDay) => number) => <Delta of={changeOf(comparison, valueOf)} />;
  return (
    <Figures
      items={[
        {
          term: "Bookings",
          value: countText(bookings),
          href: hrefOf?.({}),
          delta: changeIn((day) => Number(day.bookings)),
        },
        ...(revenue.length === 0 ? [{ term: "Revenue", value: "—", note: "Nothing yet" }] : []),
        ...revenue.map((sum) => ({
          ...revenueFigure(sum, hrefOf),
          delta: changeIn((day) => paidIn(day, sum.currency)),
        })),
        {
          term: "Cancelled",
          value: countText(cancellations),
          href: hrefOf?.({ status: String(ShipmentStatus.CANCELLED) }),
          delta: changeIn((day) => Number(day.cancellations)),
          note: bookings > 0n && `${shareText(shareOf(cancellations, bookings)!)} of bookings`,
        },
        ...quoteFigures(overview.totals!, before?.totals),
        ...(overview.deliveries ? deliveryFigures(overview.deliveries, before?.deliveries) : []),
      ]}
    />
  );
}

/** A change with an arrow: `▲ 12.5%`. A change of a share is in percentage points: `▼ 1.2 points`. */
function Delta({ of: change, isShare }: { readonly of: number | undefined; readonly isShare?: boolean }) {
  if (change === undefined) return null;
  const size = Math.abs(change);
  const text = isShare ? `${numberText(size * 100, 1)} points` : shareText(size);
  if (change === 0) return <small class="delta">no change</small>;
  return (
    <small class="delta">
      <span aria-hidden="true">{change > 0 ? "▲" : "▼"}</span>
      <span class="visually-hidden">{change > 0 ? "Up" : "Down"}</span> {text}
    </small>
  );
}

function difference(now: number | undefined, then: number | undefined): number | undefined {
  return now === undefined || then === undefined ? undefined : now - then;
}

function paidIn({ revenue }: OverviewDay, currency: string): number {
  return revenue.find((sum) => sum.currency === currency)?.paid ?? 0;
}

function revenueFigure({ currency, paid, awaitingPayment }: Revenue, hrefOf: HrefOf | undefined): Figure {
  const listOf = (status: PaymentStatus) => hrefOf?.({ payment_status: String(status) });
  return {
    term: `Revenue, ${currency}`,
    value: <Money amount={paid} currency={currency} />,
    href: listOf(PaymentStatus.PAID),
    note: (
      <Linked href={listOf(PaymentStatus.AWAITING_PAYMENT)}>
        and <Money amount={awaitingPayment} currency={currency} /> to pay
      </Linked>
    ),
  };
}

/** Returns the share of quotes that were booked. Empty if unknown, without quotes or above 100%. */
function quoteFigures(now: OverviewTotals, then: OverviewTotals | undefined): readonly Figure[] {
  const { quotes, quotedBookings, quoteToBooking: share } = now;
  if (quotes === undefined || share === undefined) return [];
  return [
    {
      term: "Quote to booking",
      value: shareText(share),
      delta: <Delta isShare of={difference(share, then?.quoteToBooking)} />,
      note: `${countText(quotedBookings)} booked of ${countText(quotes)} quotes by API`,
    },
  ];
}

function deliveryFigures(now: Deliveries, then: Deliveries | undefined): readonly Figure[] {
  const [failures, before] = [failureShare(now), then && failureShare(then)];
  return [
    {
      term: "On time",
      value: onTimeText(now),
      delta: <Delta isShare of={difference(onTimeShare(now), then && onTimeShare(then))} />,
      note: now.withWindow > 0n && `${countText(now.onTime)} of ${countText(now.withWindow)} deliveries with a window`,
    },
    {
      term: "Failed attempts",
      value: countText(now.failedAttempts),
      note: failures !== undefined && (
        <>
          {numberText(failures * 100, 1)} per 100 picked up <Delta of={before ? failures / before - 1 : undefined} />
        </>
      ),
    },
  ];
}

function countText(count: bigint): string {
  return numberText(Number(count));
}

const onTimeShare = ({ onTime, withWindow }: Deliveries) => shareOf(onTime, withWindow);
const failureShare = ({ failedAttempts, pickedUp }: Deliveries) => shareOf(failedAttempts, pickedUp);

function shareOf(part: bigint, whole: bigint): number | undefined {
  return whole === 0n ? undefined : Number(part) / Number(whole);
}

function onTimeText(deliveries: Deliveries): string {
  const share = onTimeShare(deliveries);
  return share === undefined ? "—" : shareText(share);
}

/** @param share text after the count */
function pointOf(label: string, count: bigint, share = "") {
  return { label, value: Number(count), text: countText(count) + share };
}

/** Shows how far the period's bookings have come, and the deliveries of each courier and zone. */
export function DeliveryReport({ overview }: Comparison) {
  const { deliveries, couriers, zones, totals } = overview;
  if (deliveries === undefined || deliveries.bookings === 0n) return null;
  const { bookings, paid, pickedUp, delivered } = deliveries;
  const { quotes = 0n, quotedBookings = 0n } = totals ?? {};
  const isQuoted = quotes >= bookings;
  const unquoted = bookings - quotedBookings;
  const stepOf = (label: string, count: bigint) => pointOf(label, count, ` · ${shareText(shareOf(count, bookings)!)}`);
  return (
    <>
      <section class="panel">
        <BarList
          label={isQuoted ? "From quote to delivery" : "From booking to delivery"}
          points={[
            ...(isQuoted ? [pointOf("Quoted by API", quotes)] : []),
            pointOf("Booked", bookings),
            stepOf("Paid", paid),
            stepOf("Picked up", pickedUp),
            stepOf("Delivered", delivered),
          ]}
        />
        {quotes > 0n && unquoted > 0n && <p class="hint note">{countText(unquoted)} bookings without an API quote</p>}
      </section>
      <div class="charts">
        <DeliveryTable by="Courier" rows={couriers} unnamed="No courier" />
        <DeliveryTable by="Zone" rows={zones} unnamed="Not recorded" />
      </div>
    </>
  );
}

function DeliveryTable(props: { readonly by: string; readonly rows: readonly Deliveries[]; readonly unnamed: string }) {
  const { by, rows, unnamed } = props;
  const columns: readonly Column<Deliveries>[] = [
    { header: by, selfEvident: true, cell: ({ name }) => name ?? <span class="minor">{unnamed}</span> },
    { header: "Delivered", align: "end", cell: ({ delivered }) => countText(delivered) },
    { header: "On time", align: "end", cell: onTimeText },
    { header: "Failed", align: "end", cell: ({ failedAttempts }) => countText(failedAttempts) },
  ];
  return (
    <Section title={`By ${by.toLowerCase()}`}>
      <Table
        label={`Deliveries by ${by.toLowerCase()}`}
        columns={columns}
        rows={rows}
        keyOf={({ name = "" }) => name}
      />
    </Section>
  );
}

/** Daily charts of both periods: a large one for bookings and small ones for the remaining values. */
export function OverviewCharts(comparison: Comparison) {
  const { overview, before } = comparison;
  const from = Math.max(
    overview.days.findIndex((day, i) => hasData(day) || hasData(before?.days[i])),
    0,
  );
  const days = overview.days.slice(from);
  const earlier = before?.days.some(hasData) ? before.days.slice(from) : undefined;
  const currencies = new Set(
    [...days, ...(earlier ?? [])].flatMap(({ revenue }) => revenue.map((sum) => sum.currency)),
  );
  const own = { days, before: earlier };
  return (
    <>
      <DayChart {...own} title="Bookings" size="large" valueOf={({ bookings }) => Number(bookings)} />
      <div class="charts">
        {[...currencies].toSorted().map((currency) => (
          <DayChart
            key={currency}
            {...own}
            title={`Revenue, ${currency}`}
            valueOf={(day) => paidIn(day, currency)}
            currency={currency}
          />
        ))}
        <DayChart {...own} title="Cancelled" valueOf={({ cancellations }) => Number(cancellations)} />
        <DayChart
          {...own}
          title="Quotes"
          valueOf={({ quotes }) => (quotes === undefined ? undefined : Number(quotes))}
        />
      </div>
      <p class="hint">
        A shipment counts on the day it was booked, in {clockText(overview.timeZone || "UTC")}.{" "}
        <a href="/docs/dashboard#about-these-figures" rel="external">
          About these figures
        </a>
      </p>
    </>
  );
}

function hasData(day: OverviewDay | undefined): boolean {
  return day !== undefined && (day.bookings > 0n || (day.quotes ?? 0n) > 0n);
}

function DayChart(props: {
  readonly days: readonly OverviewDay[];
  readonly before: readonly OverviewDay[] | undefined;
  readonly title: string;
  readonly size?: "large";
  readonly valueOf: (day: OverviewDay) => number | undefined;
  readonly currency?: string;
}) {
  const { days, before, title, valueOf, currency, size = "small" } = props;
  const textOf = (value: number) => (currency === undefined ? numberText(value) : moneyText(value, currency));
  const pointsOf = (shown: readonly OverviewDay[]): LinePoint[] =>
    shown.map((day) => {
      const value = valueOf(day);
      return {
        label: dayText(day.date, "medium"),
        short: dayText(day.date, "short"),
        value: value ?? 0,
        text: value === undefined ? "not known" : textOf(value),
      };
    });
  return (
    <Section title={`${title} by day`}>
      <LineChart
        label={`${title} by day`}
        points={pointsOf(days)}
        before={before && pointsOf(before)}
        names={["This period", "Previous period"]}
        tickText={(value) => compactText(value, currency)}
        isWhole={currency === undefined}
        size={size}
      />
    </Section>
  );
}
