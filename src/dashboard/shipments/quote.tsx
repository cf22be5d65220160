import { timestampMs } from "@bufbuild/protobuf/wkt";
import { useEffect, useState } from "preact/hooks";
import { QuoteService, type CreateQuoteResponse } from "../../../gen/shipments/v1/quote_service_pb.js";
import { type Query, useDebounced, useRpc } from "../api/use-query.ts";
import { durationText, numberText } from "../ui/format.ts";
import { Menu } from "../ui/menu.tsx";
import { Section, ProblemNote } from "../ui/page.tsx";
import { lazily } from "../ui/lazily.tsx";
import { Money } from "../ui/values.tsx";
import { PriceTable } from "./price-table.tsx";
import { inKilometers, isComplete, routeOf, type RouteText } from "./route.ts";
import { type BookedWindows, type Windows, windowsOf } from "./use-windows.ts";
import { isOfWindows } from "./windows.ts";

const WindowFields = lazily(() => import("./window-fields.tsx"), "WindowFields");

/** Time without typing before a route is priced, in milliseconds. */
const SETTLED_MS = 200;

/** Query for the current input's quote. Its data is `undefined` while the route is incomplete. */
export type QuoteQuery = Query<CreateQuoteResponse | undefined>;

/** Quotes a route and its windows shortly after the last input. Requires a tariff in force. */
export function useQuote(route: RouteText, windows: Windows, hasTariff = true): QuoteQuery {
  const settled = useDebounced(route, SETTLED_MS);
  const isReady = hasTariff && isComplete(settled) && !windows.isUnset;
  return useRpc(QuoteService.method.createQuote, isReady ? { ...routeOf(settled), ...windowsOf(windows) } : undefined);
}

/** Returns a quote's price without window fees, or `undefined` while unknown. */
function totalWithoutWindows({ data: quote }: QuoteQuery): number | undefined {
  return quote?.covered ? quote.total - quote.windowFee : undefined;
}

/** Fields for a route's pickup and dropoff times, with the quote's notes about them. */
export function TimesSection(props: {
  readonly route: RouteText;
  readonly windows: Windows;
  readonly quote: QuoteQuery;
  readonly booked?: BookedWindows;
}) {
  const { route, windows, quote } = props;
  const { offers, problem } = windows;
  const hasNone = (offers.pickup ?? offers.dropoff ?? problem) === undefined;
  return (
    <Section title="When">
      <div class="form times">
        <WindowFields {...props} total={totalWithoutWindows(quote)} refused={quote.problem} />
        {hasNone && (
          <p class="minor">
            {isComplete(route) && quote.data?.covered !== false
              ? "As soon as possible. No times are offered on this route."
              : "Times can be chosen once the route is set."}
          </p>
        )}
      </div>
    </Section>
  );
}

/** Shows a route's price and its validity, or why the route is not served and the distance to coverage. */
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
          <Menu
            label={
              <>
                <strong>
                  <Money amount={quote.total} currency={quote.currency} />
                </strong>
                <span class="minor">for {numberText(quote.distanceKm, 1)} km</span>
              </>
            }
          >
            <PriceTable price={quote} />
          </Menu>
          <Hold quote={quote} renew={reload} />
        </>
      ) : (
        <p class="problem attention">{inKilometers(quote.message ?? "")}</p>
      )}
    </div>
  );
}

/** Shows the time left on a quote. After expiry, requests a new quote when the page is visible. */
function Hold({ quote, renew }: { readonly quote: CreateQuoteResponse; readonly renew: () => void }) {
  const [seconds, setSeconds] = useState(() => heldSeconds(quote));
  useEffect(() => {
    // Use only the browser's clock for the countdown, because it may differ from the service's.
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
      {seconds > 0 ? `Valid for ${durationText(seconds)}` : "This price has expired."}
    </p>
  );
}

/** Returns the lifetime of a quote, in seconds. */
function heldSeconds({ createdAt, expiresAt }: CreateQuoteResponse): number {
  return (timestampMs(expiresAt!) - timestampMs(createdAt!)) / 1_000;
}
