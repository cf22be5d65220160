import type { Shipment } from "../../../gen/shipments/v1/shipment_pb.js";
import { numberText } from "../ui/format.ts";
import { Money } from "../ui/values.tsx";

type Fee = "distanceFee" | "weightFee" | "baseFee" | "subtotal" | "windowFee" | "total";

/** A price with its components, in major units of the currency, and the distance and weight that determine it. */
type Price = Pick<Shipment, Fee | "currency" | "distanceKm"> & Partial<Pick<Shipment, "weightKg">>;

/** A price breakdown. The subtotal and the minimum charge are shown only if they explain the total. */
export function PriceTable({ price }: { readonly price: Price }) {
  const amount = (term: string, value: number) => (
    <tr>
      <th scope="row">{term}</th>
      <td>
        <Money amount={value} currency={price.currency} />
      </td>
    </tr>
  );
  const weight = price.weightKg === undefined ? "" : `, ${numberText(price.weightKg)} kg`;
  return (
    <table class="sum">
      <tbody>
        {amount(`Distance, ${numberText(price.distanceKm)} km`, price.distanceFee)}
        {amount(`Weight${weight}`, price.weightFee)}
        {price.subtotal !== price.total && amount("Subtotal", price.subtotal)}
        {price.baseFee > price.subtotal && amount("Minimum charge", price.baseFee)}
        {price.windowFee > 0 && amount("Chosen times", price.windowFee)}
      </tbody>
      <tfoot>{amount("Total", price.total)}</tfoot>
    </table>
  );
}
