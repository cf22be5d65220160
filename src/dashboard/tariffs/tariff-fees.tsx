import type { ComponentChildren } from "preact";
import type { TariffFees, TariffTier } from "../../../gen/shipments/admin/v1/tariff_pb.js";
import { DescriptionList } from "../ui/description-list.tsx";
import { numberText } from "../ui/format.ts";
import "./tariffs.css";

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
      <DescriptionList
        items={[
          ["Currency", currency || "—"],
          ["Least charge", fee(fees.baseFee)],
          ["Per kilometre", fee(fees.ratePerKm)],
        ]}
      />
      {tiers.length > 0 && <Tiers tiers={tiers} fee={fee} />}
    </>
  );
}

function Tiers(props: {
  readonly tiers: readonly TariffTier[];
  readonly fee: (text: string) => ComponentChildren;
}) {
  const { tiers, fee } = props;
  return (
    <table class="tier-table" aria-label="Tiers">
      <thead>
        <tr>
          <th scope="col">Weight, kg</th>
          <th scope="col">Flat fee</th>
          <th scope="col">Per kilogram</th>
        </tr>
      </thead>
      <tbody>
        {tiers.map(({ minKg, maxKg, flatFee, ratePerKg }, i) => (
          <tr key={i}>
            <th scope="row">
              over {numberText(minKg)} to {numberText(maxKg)}
            </th>
            <td>{fee(flatFee)}</td>
            <td>{fee(ratePerKg)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
