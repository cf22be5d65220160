import type { TariffFees, TariffTier } from "../../../gen/shipments/admin/v1/tariff_pb.js";
import { Facts } from "./facts.tsx";
import { numberText } from "./format.ts";
import { Table, type Column } from "./table.tsx";

/** The most decimals that a rate has. */
const RATE_DECIMALS = 6;

/**
 * A decimal of a tariff in its currency, in the reader's locale, with the exact text as title. What a
 * draft has instead of a decimal or a currency is shown as it is.
 */
export function Fee(props: { readonly text: string; readonly currency: string }) {
  const { text, currency } = props;
  if (text === "") return <>—</>;
  if (!/^\d+(\.\d+)?$/.test(text) || !/^[A-Z]{3}$/.test(currency)) return <>{text}</>;
  const format = new Intl.NumberFormat(undefined, {
    style: "currency",
    currency,
    maximumFractionDigits: RATE_DECIMALS,
  });
  return (
    <data class="money" value={text} title={`${text} ${currency}`}>
      {format.format(Number(text))}
    </data>
  );
}

/** The fees of a tariff, with its tiers as a table. */
export function FeesView({ fees }: { readonly fees: TariffFees }) {
  const { currency, tiers } = fees;
  const fee = (text: string) => <Fee text={text} currency={currency} />;
  return (
    <>
      <Facts
        items={[
          ["Currency", currency || "—"],
          ["Least charge", fee(fees.baseFee)],
          ["Per kilometre", fee(fees.ratePerKm)],
        ]}
      />
      {tiers.length > 0 && (
        <Table
          label="Tiers"
          columns={tierColumns(currency)}
          rows={[...tiers.entries()]}
          keyOf={([i]) => String(i)}
        />
      )}
    </>
  );
}

function tierColumns(currency: string): readonly Column<[number, TariffTier]>[] {
  return [
    {
      header: "Weight",
      cell: ([, { minKg, maxKg }]) => `over ${numberText(minKg)} to ${numberText(maxKg)} kg`,
    },
    {
      header: "Flat fee",
      align: "end",
      cell: ([, { flatFee }]) => <Fee text={flatFee} currency={currency} />,
    },
    {
      header: "Per kilogram",
      align: "end",
      cell: ([, { ratePerKg }]) => <Fee text={ratePerKg} currency={currency} />,
    },
  ];
}
