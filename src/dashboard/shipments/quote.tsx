import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import {
  QuoteService,
  type CreateQuoteResponse,
} from "../../../gen/shipments/v1/quote_service_pb.js";
import { type Query, useDebounced, useRpc } from "../api/use-query.ts";
import { durationText, numberText } from "../ui/format.ts";
import { ProblemNote } from "../ui/query-view.tsx";
import { Money } from "../ui/values.tsx";
import { isComplete, routeOf, type RouteText } from "./route.ts";
import { type Windows, windowsOf } from "./window-fields.tsx";
import { isOfWindows } from "./windows.ts";

/** How long nothing is typed before a route is priced, in milliseconds. */
const SETTLED_MS = 200;

/** A quote of what was typed last; its data is undefined as long as the route is not complete. */
export type QuoteQuery = Query<CreateQuoteResponse | undefined>;

/** Quotes a route with its windows soon after it was typed, as long as there is a tariff. */
export function useQuote(route: RouteText, windows: Windows, hasTariff = true): QuoteQuery {
  const settled = useDebounced(route, SETTLED_MS);
  const isReady = hasTariff && isComplete(settled) && !windows.isUnset;
  return useRpc(
    QuoteService.method.createQuote,
    isReady ? { ...routeOf(settled), ...windowsOf(windows) } : undefined,
  );
}

/** What a quoted route costs without its windows; undefined while that is not known. */
export function totalWithoutWindows({ data: quote }: QuoteQuery): number | undefined {
  return quote?.covered ? quote.total - quote.windowFee : undefined;
}

/** What a route costs and for how long, or why it cannot be served and how far away that is. */
export function Quote(props: { readonly query: QuoteQuery; readonly windows: Windows }) {
  const { data: quote, problem, isLoading, reload } = props.query;
  return (
    <div class="quote" aria-live="polite" aria-busy={isLoading}>
      {problem &&
        (isOfWindows(problem) ? (
          <p class="minor">The price appears when the times can be booked.</p>
        ) : (
          <ProblemNote problem={problem} retry={reload} />
        ))}
      {quote === undefined ? (
        !problem && (
          <p class="minor">
            {props.windows.isUnset
              ? "The price appears when the times are set."
              : "The price appears when both places and the weight are set."}
          </p>
        )
      ) : quote.covered ? (
        <>
          <PriceTable price={quote} distanceKm={quote.distanceKm} />
          <Hold quote={quote} renew={reload} />
        </>
      ) : (
        <p class="problem attention">{inKilometres(quote.message ?? "")}</p>
      )}
    </div>
  );
}

function inKilometres(text: string): string {
  return text.replace(/\b\d{4,} m\b/g, (far) => `${numberText(parseInt(far, 10) / 1_000, 0)} km`);
}

/** How long a price holds still. When it no longer does, asks anew, once somebody looks. */
function Hold(props: { readonly quote: CreateQuoteResponse; readonly renew: () => void }) {
  const { quote, renew } = props;
  const [seconds, setSeconds] = useState(() => heldSeconds(quote));
  useEffect(() => {
    // By the browser's own clock from here on, which may be set otherwise than the service's.
    const endMs = Date.now() + heldSeconds(quote) * 1_000;
    let isRenewed = false;
    const tick = () => {
      const left = Math.max(0, Math.ceil((endMs - Date.now()) / 1_000));
      setSeconds(left);
      if (left > 0 || isRenewed || document.hidden) return;
      isRenewed = true;
      renew();
    };
    tick();
    const timer = setInterval(tick, 1_000);
    return () => clearInterval(timer);
  }, [quote, renew]);
  return (
    <p class="minor" role="timer">
      {seconds > 0 ? `This price holds for ${durationText(seconds)}.` : "This price has expired."}
    </p>
  );
}

/** How long a quote held when it was made, in seconds. */
function heldSeconds({ createdAt, expiresAt }: CreateQuoteResponse): number {
  return (timestampMs(expiresAt!) - timestampMs(createdAt!)) / 1_000;
}

/** A price and what it consists of, in major units of the currency, as quotes and shipments have it. */
export interface Price {
  readonly distanceFee: number;
  readonly weightFee: number;
  readonly baseFee: number;
  readonly subtotal: number;
  /** What the windows add to the greater of subtotal and minimum charge. */
  readonly windowFee: number;
  readonly total: number;
  readonly currency: string;
}

/** A price broken down. The minimum charge is there only where it is more than the rest. */
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
