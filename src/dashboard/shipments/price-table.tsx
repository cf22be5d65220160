import type { ComponentChildren } from "preact";
import type { Shipment } from "../../../gen/shipments/v1/shipment_pb.js";
import { numberText } from "../ui/format.ts";
import { Money } from "../ui/values.tsx";

type Fee = "distanceFee" | "weightFee" | "baseFee" | "subtotal" | "windowFee" | "total";

/** A price with its components, in major units of the currency, and the distance and weight that determine it. */
type Price = Pick<Shipment, Fee | "currency" | "distanceKm"> & Partial<Pick<Shipment, "weightKg">>;

/** A price breakdown. The subtotal and the minimum charge are shown only if they explain the total. */
export function PriceTable({ price }: { readonly price: Price }) {
  const money = (amount: number) => <Money amount={amount} currency={price.currency} />;
  const weight = price.weightKg === undefined ? "" : `, ${numberText(price.weightKg)} kg`;
  const isLeast = price.baseFee > price.subtotal;
  return (
    <table class="sum">
      <tbody>
        <Amount term={`Distance, ${numberText(price.distanceKm)} km`}>{money(price.distanceFee)}</Amount>
        <Amount term={`Weight${weight}`}>{money(price.weightFee)}</Amount>
        {price.subtotal !== price.total && <Amount term="Subtotal">{money(price.subtotal)}</Amount>}
        {isLeast && <Amount term="Minimum charge">{money(price.baseFee)}</Amount>}
        {price.windowFee > 0 && <Amount term="Chosen times">{money(price.windowFee)}</Amount>}
      </tbody>
      <tfoot>
        <Amount term="Total">{money(price.total)}</Amount>
      </tfoot>
    </table>
  );
}

function Amount(props: { readonly term: string; readonly children: ComponentChildren }) {
  return (
    <tr>
      <th scope="row">{props.term}</th>
      <td>{props.children}</td>
    </tr>
  );
}
