import type { Overview, OverviewDay, Revenue } from "../../../gen/shipments/v1/report_pb.js";
import { PaymentStatus, ShipmentStatus } from "../../../gen/shipments/v1/shipment_pb.js";
import { LineChart, type LinePoint } from "../ui/charts.tsx";
import { Figures, Linked, type Figure } from "../ui/description-list.tsx";
import { compactText, moneyText, numberText, shareText } from "../ui/format.ts";
import { clockText } from "../ui/local-time.ts";
import { Section } from "../ui/page.tsx";
import { Money } from "../ui/values.tsx";
import { differenceText, type Comparison } from "./difference.ts";

export function OverviewFigures(props: {
  readonly overview: Overview;
  /** Returns the URL of the period's shipments with additional filters. */
  readonly hrefOf?: (filters: Readonly<Record<string, string>>) => string;
}) {
  const { overview, hrefOf } = props;
  if (overview.totals === undefined) return null;
  const { bookings, cancellations, revenue, quotes, quotedBookings, quoteToBooking } = overview.totals;
  return (
    <Figures
      items={[
        { term: "Bookings", value: numberText(Number(bookings)), href: hrefOf?.({}) },
        ...(revenue.length === 0 ? [{ term: "Revenue", value: "—", note: "Nothing yet" }] : []),
        ...revenue.map((sum) => revenueFigure(sum, hrefOf)),
        {
          term: "Cancelled",
          value: numberText(Number(cancellations)),
          href: hrefOf?.({ status: String(ShipmentStatus.CANCELLED) }),
          note: bookings > 0n && `${shareText(Number(cancellations) / Number(bookings))} of them`,
        },
        {
          term: "Quote to booking",
          value: quoteToBooking === undefined ? "—" : shareText(quoteToBooking),
          note: quotesText(quotes, quotedBookings),
        },
      ]}
    />
  );
}

function revenueFigure(
  { currency, paid, awaitingPayment }: Revenue,
  hrefOf: Parameters<typeof OverviewFigures>[0]["hrefOf"],
): Figure {
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

/** Returns the counts behind the share of booked quotes, or why the share is unavailable. */
function quotesText(quotes: bigint | undefined, quotedBookings: bigint): string {
  if (quotes === undefined) return "Unknown for some days";
  if (quotes === 0n && quotedBookings === 0n) return "No quotes";
  const booked = quotedBookings === 1n ? "1 booking" : `${numberText(Number(quotedBookings))} bookings`;
  return `${booked} with a quote, ${numberText(Number(quotes))} ${quotes === 1n ? "quote" : "quotes"}`;
}

/** Daily charts of both periods: a large one for bookings and small ones for the remaining values. */
export function OverviewCharts(comparison: Comparison) {
  const { overview, before } = comparison;
  const days = [...overview.days, ...(before?.days ?? [])];
  const currencies = new Set(days.flatMap(({ revenue }) => revenue.map((sum) => sum.currency)));
  return (
    <>
      <DayChart {...comparison} title="Bookings" size="large" valueOf={({ bookings }) => Number(bookings)} />
      <div class="charts">
        {[...currencies].toSorted().map((currency) => (
          <DayChart
            key={currency}
            {...comparison}
            title={`Revenue, ${currency}`}
            valueOf={({ revenue }) => revenue.find((sum) => sum.currency === currency)?.paid ?? 0}
            currency={currency}
          />
        ))}
        <DayChart {...comparison} title="Cancelled" valueOf={({ cancellations }) => Number(cancellations)} />
        <DayChart
          {...comparison}
          title="Quotes"
          valueOf={({ quotes }) => (quotes === undefined ? undefined : Number(quotes))}
        />
      </div>
      <Meaning {...comparison} />
    </>
  );
}

function DayChart(
  props: Comparison & {
    readonly title: string;
    readonly size?: "large";
    readonly valueOf: (day: OverviewDay) => number | undefined;
    readonly currency?: string;
  },
) {
  const { overview, before, title, valueOf, currency, size = "small" } = props;
  const textOf = (value: number) => (currency === undefined ? numberText(value) : moneyText(value, currency));
  const pointsOf = (days: readonly OverviewDay[]): LinePoint[] =>
    days.map((day) => {
      const value = valueOf(day);
      return {
        label: dateText(day.date, "long"),
        short: dateText(day.date, "short"),
        value: value ?? 0,
        text: value === undefined ? "not known" : textOf(value),
      };
    });
  return (
    <Section title={title} actions={<Difference {...props} />}>
      <LineChart
        label={`${title} by day`}
        points={pointsOf(overview.days)}
        before={before && pointsOf(before.days)}
        names={["This period", before ? `Previous period: ${spanText(before)}` : ""]}
        tickText={(value) => compactText(value, currency)}
        isWhole={currency === undefined}
        size={size}
      />
    </Section>
  );
}

function Difference(props: Comparison & Pick<Parameters<typeof DayChart>[0], "valueOf">) {
  const text = differenceText(props, props.valueOf);
  return text === undefined ? null : <span class="minor">{text}</span>;
}

function Meaning({ overview, before, today }: Comparison) {
  const isOver = overview.toDate < today;
  return (
    <p class="hint">
      {before && `Changes compare with ${spanText(before)}`}
      {before && (isOver ? ". " : ", complete days only. ")}
      Days are in {clockText(overview.timeZone || "UTC")}. Shipments are counted on the day of booking. Revenue is the
      total of shipments that are paid and not refunded. “Quote to booking” is the share of quotes that were booked.{" "}
      <a href="/docs/dashboard#about-these-figures" rel="external">
        About these figures
      </a>
    </p>
  );
}

const DATES = { long: { dateStyle: "medium" }, short: { month: "short", day: "numeric" } } as const;

/** Formats a day for the browser's locale, with the year or in the shortest form. */
function dateText(date: string, length: keyof typeof DATES): string {
  return new Intl.DateTimeFormat(undefined, { ...DATES[length], timeZone: "UTC" }).format(new Date(`${date}T00:00Z`));
}

function spanText({ fromDate, toDate }: Overview): string {
  return new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeZone: "UTC" }).formatRange(
    new Date(`${fromDate}T00:00Z`),
    new Date(`${toDate}T00:00Z`),
  );
}
