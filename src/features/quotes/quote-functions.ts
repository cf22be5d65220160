import {
  type BatchCreateQuotesRequestValid,
  type CreateQuoteRequest,
  type CreateQuoteRequestValid,
  type CreateQuoteResponse,
  CreateQuoteResponseSchema,
} from "../../../gen/shipments/v1/quote_service_pb.js";
import { breakDown } from "../../domain/pricing/breakdown.ts";
import { quoteWithZones, routeOf, type UncoveredQuote, zoneIdentityAt } from "../../domain/pricing/pricing.ts";
import { sealQuote } from "../../domain/pricing/sealed-quote.ts";
import { compileToMessage, type RecordOf } from "../../json/records.ts";
import type { Call } from "../../pipeline/call.ts";
import { compileResponse } from "../../pipeline/rpc-response.ts";
import type { TariffCache } from "../tariffs/versions/tariff-cache.ts";
import { byTestClock, timeOf } from "../workspaces/test-clock.ts";
import { quoteRecord } from "../tariffs/versions/quote-message.ts";
import { breakdownRecord } from "./breakdown-record.ts";
import { quoteWindows } from "./quote-windows.ts";
import type { QuoteKeys } from "./quote-keys.ts";
import { quoteEach, type ValidateRoute } from "./quote-each.ts";

export interface QuoteDeps {
  readonly tariffs: TariffCache;
  readonly quoteKeys: QuoteKeys;
  readonly now: () => Date;
  readonly validateNewQuote: ValidateRoute<CreateQuoteRequest>;
}

/** Default validity of a quote, in seconds. */
const VALID_FOR_SECONDS = 900;

const respond = compileResponse(CreateQuoteResponseSchema);
const toMessage = compileToMessage(CreateQuoteResponseSchema);

export const QUOTE_FUNCTIONS = {
  createQuote: byTestClock((request: CreateQuoteRequestValid, call, deps: QuoteDeps) =>
    respond(makeQuote(request, call, deps)),
  ),

  /** Creates quotes independently. The result of each route has its own errors. */
  batchCreateQuotes: byTestClock(({ routes }: BatchCreateQuotesRequestValid, call, deps: QuoteDeps) => ({
    results: quoteEach(routes, call, {
      validate: deps.validateNewQuote,
      quote: (route) => toMessage(makeQuote(route as CreateQuoteRequestValid, call, deps)),
    }),
  })),
};

/**
 * Prices a route with the tariff in force and seals the quote. Makes no database calls.
 *
 * @throws Refusal WINDOW_INVALID, OUTSIDE_HOURS, CUT_OFF_PASSED, TOO_SOON, TOO_FAR_AHEAD, with
 * alternatives in the facts; UNAVAILABLE if no tariff was published
 */
function makeQuote(
  request: CreateQuoteRequestValid,
  call: Pick<Call, "caller" | "testTime">,
  { tariffs, quoteKeys, now }: QuoteDeps,
): RecordOf<CreateQuoteResponse> {
  const { version, pricing } = tariffs.current();
  const route = routeOf(request);
  const { quote: quoted, zones } = quoteWithZones(pricing, route);
  const createdAtMs = timeOf(call, now).getTime();
  const { quote, windows } = quoteWindows(pricing, { quoted, route, request }, createdAtMs);
  const outside: UncoveredQuote["outsideMeters"] = quote.covered ? {} : quote.outsideMeters;
  const made = {
    ...quoteRecord(quote, windows),
    id: null,
    breakdown: [],
    zones: {
      pickup: zoneIdentityAt(pricing, zones.pickup),
      dropoff: zoneIdentityAt(pricing, zones.dropoff),
    },
    pickupOutsideMeters: outside.pickup,
    dropoffOutsideMeters: outside.dropoff,
    tariffVersion: version,
    createdAt: createdAtMs,
    expiresAt: null,
  };
  if (!quote.covered) return made;
  const expiresAtMs = createdAtMs + (request.validForSeconds ?? VALID_FOR_SECONDS) * 1_000;
  const terms = {
    workspace: call.caller.workspaceId,
    route,
    pickupWindow: windows.pickup,
    dropoffWindow: windows.dropoff,
    tariffVersion: version,
    expiresAtMs,
  };
  const windowFees = [windows.pickup, windows.dropoff].map((window) => window?.feeMinor ?? 0);
  const lines = breakDown(pricing.fees, route.weightKg, quote, windowFees)!;
  return {
    ...made,
    id: sealQuote(terms, quoteKeys.current()),
    breakdown: breakdownRecord(lines, quote.currency),
    expiresAt: expiresAtMs,
  };
}
