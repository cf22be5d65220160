import type {
  CreateQuoteRequest,
  CreateQuoteRequestValid,
  CreateQuoteResponse,
} from "../../../gen/shipments/v1/quote_service_pb.js";
import { breakDown } from "../../domain/pricing/breakdown.ts";
import { quoteWithZones, routeOf, zoneIdentityAt } from "../../domain/pricing/pricing.ts";
import { sealQuote } from "../../domain/pricing/sealed-quote.ts";
import type { Call } from "../../pipeline/call.ts";
import { LazyResponse } from "../../pipeline/rpc-response.ts";
import type { TariffCache } from "../tariffs/versions/tariff-cache.ts";
import { timeOf } from "../workspaces/test-clock.ts";
import { madeQuoteJson, madeQuoteMessage, type MadeQuote } from "./quote-response.ts";
import { quoteWindows } from "./quote-windows.ts";
import type { QuoteKeys } from "./quote-keys.ts";
import type { ValidateRoute } from "./quote-each.ts";

/** What quotes need. */
export interface QuoteDeps {
  readonly tariffs: TariffCache;
  readonly quoteKeys: QuoteKeys;
  readonly now: () => Date;
  readonly validateNewQuote: ValidateRoute<CreateQuoteRequest>;
}

/** For how long a price holds unless told otherwise, in seconds. */
const VALID_FOR_SECONDS = 900;

/**
 * Prices a route by the tariff in force and seals the quote, without the database.
 *
 * @throws Refusal WINDOW_INVALID, OUTSIDE_HOURS, CUT_OFF_PASSED, TOO_SOON, TOO_FAR_AHEAD, with what
 *   would do among its facts; UNAVAILABLE while no tariff has been published
 */
export function createQuote(
  request: CreateQuoteRequestValid,
  call: Pick<Call, "caller" | "testTime">,
  deps: QuoteDeps,
): LazyResponse<CreateQuoteResponse> {
  const made = makeQuote(request, call, deps);
  return new LazyResponse(
    () => madeQuoteMessage(made),
    () => madeQuoteJson(made),
  );
}

/** As `createQuote`, without the form of a response. */
export function makeQuote(
  request: CreateQuoteRequestValid,
  call: Pick<Call, "caller" | "testTime">,
  { tariffs, quoteKeys, now }: QuoteDeps,
): MadeQuote {
  const { version, pricing } = tariffs.current();
  const route = routeOf(request);
  const { quote: quoted, zones } = quoteWithZones(pricing, route);
  const createdAtMs = timeOf(call, now).getTime();
  const { quote, windows } = quoteWindows(pricing, { quoted, route, request }, createdAtMs);
  const made = {
    id: undefined,
    quote,
    windows,
    lines: [],
    zones: {
      pickup: zoneIdentityAt(pricing, zones.pickup),
      dropoff: zoneIdentityAt(pricing, zones.dropoff),
    },
    tariffVersion: version,
    createdAtMs,
    expiresAtMs: undefined,
  };
  if (!quote.covered) return made;
  const expiresAtMs = createdAtMs + (request.validForSeconds ?? VALID_FOR_SECONDS) * 1_000;
  const held = {
    workspace: call.caller.workspaceId,
    route,
    pickupWindow: windows.pickup,
    dropoffWindow: windows.dropoff,
    tariffVersion: version,
    expiresAtMs,
  };
  const windowFees = [windows.pickup, windows.dropoff].map((window) => window?.feeMinor ?? 0);
  const lines = breakDown(pricing.fees, route.weightKg, quote, windowFees)!;
  return { ...made, id: sealQuote(held, quoteKeys.current()), lines, expiresAtMs };
}
