import type { ComponentChildren } from "preact";
import type { QuoteShipmentResponse } from "../../../gen/shipments/v1/quote_pb.js";
import { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { useClient } from "../api/clients.ts";
import { type Query, useQuery, useDebounced } from "../api/use-query.ts";
import { numberText } from "../ui/format.ts";
import { ProblemNote } from "../ui/query-view.tsx";
import { Money } from "../ui/values.tsx";
import { isComplete, ROUTE_FIELDS, routeOf, type RouteText } from "./route.ts";

/** How long nothing is typed before a route is priced, in milliseconds. */
const SETTLED_MS = 200;

/** A quote of what was typed last; its data is undefined as long as the route is not complete. */
export type QuoteQuery = Query<QuoteShipmentResponse | undefined>;

/** Prices a route soon after it was typed, as long as there is a tariff. */
export function useQuote(route: RouteText, hasTariff = true): QuoteQuery {
  const shipments = useClient(ShipmentService);
  const settled = useDebounced(route, SETTLED_MS);
  return useQuery(
    (signal) =>
      hasTariff && isComplete(settled)
        ? shipments.quoteShipment(routeOf(settled), { signal })
        : Promise.resolve(undefined),
    [shipments, hasTariff, ...ROUTE_FIELDS.map((name) => settled[name])],
  );
}

/** What a route costs, or why it cannot be served and how far away that is. */
export function Quote({ query }: { readonly query: QuoteQuery }) {
  const { data: quote, problem, isLoading, reload } = query;
  return (
    <div class="quote" aria-live="polite" aria-busy={isLoading}>
      {problem && <ProblemNote problem={problem} retry={reload} />}
      {quote === undefined ? (
        !problem && <p class="minor">The price appears when both places and the weight are set.</p>
      ) : quote.covered ? (
        <PriceTable price={quote} distanceKm={quote.distanceKm} />
      ) : (
        <p class="problem attention">{quote.message}</p>
      )}
    </div>
  );
}

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
