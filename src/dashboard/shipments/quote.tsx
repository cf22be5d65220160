import type { QuoteShipmentResponse } from "../../../gen/shipments/v1/quote_pb.js";
import { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { useClient } from "../api/clients.ts";
import { type Query, useQuery, useDebounced } from "../api/use-query.ts";
import { ProblemNote } from "../ui/query-view.tsx";
import { PriceTable } from "./price-table.tsx";
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
