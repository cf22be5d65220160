import type { ComponentChildren } from "preact";
import { numberText } from "../ui/format.ts";
import { Money } from "../ui/values.tsx";

/** A price and what it consists of, in major units of the currency, as quotes and shipments have it. */
export interface Price {
  readonly distanceFee: number;
  readonly weightFee: number;
  readonly baseFee: number;
  readonly subtotal: number;
  readonly total: number;
  readonly currency: string;
}

/** A price broken down. The least charge is there only where it is more than the rest. */
export function PriceTable(props: {
  readonly price: Price;
  /** Said with its fee, where the page does not say it elsewhere. */
  readonly distanceKm?: number;
}) {
  const { price, distanceKm } = props;
  const money = (amount: number) => <Money amount={amount} currency={price.currency} />;
  const isLeast = price.baseFee > price.subtotal;
  return (
    <table class="sum">
      <tbody>
        <Amount
          term={distanceKm === undefined ? "Distance" : `Distance, ${numberText(distanceKm)} km`}
        >
          {money(price.distanceFee)}
        </Amount>
        <Amount term="Weight">{money(price.weightFee)}</Amount>
        <Amount term="Subtotal">{money(price.subtotal)}</Amount>
        {isLeast && <Amount term="Least charge">{money(price.baseFee)}</Amount>}
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
