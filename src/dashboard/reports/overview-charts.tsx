import type { Overview, OverviewDay, Revenue } from "../../../gen/shipments/v1/report_pb.js";
import { BarChart } from "../ui/charts.tsx";
import { Figures, type Figure } from "../ui/description-list.tsx";
import { moneyText, numberText } from "../ui/format.ts";
import { Section } from "../ui/page.tsx";
import { Money } from "../ui/values.tsx";

export function OverviewFigures({ overview }: { readonly overview: Overview }) {
  if (overview.totals === undefined) return null;
  const { bookings, cancellations, revenue, quotes, quoteToBooking } = overview.totals;
  return (
    <Figures
      items={[
        { term: "Bookings", value: numberText(Number(bookings)) },
        ...(revenue.length === 0 ? [{ term: "Revenue", value: "—", note: "Nothing yet" }] : []),
        ...revenue.map(revenueFigure),
        {
          term: "Cancelled",
          value: numberText(Number(cancellations)),
          note: bookings > 0n && `${share(Number(cancellations) / Number(bookings))} of them`,
        },
        {
          term: "Quote to booking",
          value: quoteToBooking === undefined ? "—" : share(quoteToBooking),
          note: quotesText(quotes, quoteToBooking),
        },
      ]}
    />
  );
}

function revenueFigure({ currency, paid, awaitingPayment }: Revenue): Figure {
  return {
    term: `Revenue, ${currency}`,
    value: <Money amount={paid} currency={currency} />,
    note: (
      <>
        and <Money amount={awaitingPayment} currency={currency} /> awaited
      </>
    ),
  };
}

/** What the share of quotes that were booked is a share of, or why there is none. */
function quotesText(quotes: bigint | undefined, rate: number | undefined): string {
  if (quotes === undefined) return "Not known for all days";
  if (quotes === 0n) return "No quotes";
  return `${numberText(Number(quotes))} quotes${rate === undefined ? ", more bookings" : ""}`;
}

function share(part: number): string {
  return new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 1 }).format(
    part,
  );
}

/** An overview by day, one chart for each of its values. */
export function OverviewCharts({ overview }: { readonly overview: Overview }) {
  const { days } = overview;
  const currencies = new Set(days.flatMap(({ revenue }) => revenue.map((sum) => sum.currency)));
  return (
    <div class="charts">
      <DayChart title="Bookings" days={days} valueOf={({ bookings }) => Number(bookings)} />
      {[...currencies].toSorted().map((currency) => (
        <RevenueChart key={currency} days={days} currency={currency} />
      ))}
      <DayChart
        title="Cancelled"
        days={days}
        valueOf={({ cancellations }) => Number(cancellations)}
      />
      <DayChart
        title="Quotes"
        days={days}
        valueOf={({ quotes }) => Number(quotes ?? 0)}
        textOf={({ quotes }) => (quotes === undefined ? "not known" : numberText(Number(quotes)))}
      />
    </div>
  );
}

function RevenueChart(props: { readonly days: readonly OverviewDay[]; readonly currency: string }) {
  const { days, currency } = props;
  const paidOn = ({ revenue }: OverviewDay) =>
    revenue.find((sum) => sum.currency === currency)?.paid ?? 0;
  return (
    <DayChart
      title={`Revenue, ${currency}`}
      days={days}
      valueOf={paidOn}
      textOf={(day) => moneyText(paidOn(day), currency)}
    />
  );
}

function DayChart(props: {
  readonly title: string;
  readonly days: readonly OverviewDay[];
  readonly valueOf: (day: OverviewDay) => number;
  readonly textOf?: (day: OverviewDay) => string;
}) {
  const { title, days, valueOf, textOf = (day) => numberText(valueOf(day)) } = props;
  const points = days.map((day) => ({
    label: dateText(day.date),
    value: valueOf(day),
    text: textOf(day),
  }));
  return (
    <Section title={title}>
      <BarChart label={`${title} by day`} points={points} />
    </Section>
  );
}

/** A day of the report, which is one in UTC, in the reader's locale. */
function dateText(date: string): string {
  return new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeZone: "UTC" }).format(
    new Date(`${date}T00:00Z`),
  );
}
