import type {
  QuoteShipmentRequestValid,
  QuoteShipmentResponse,
} from "../../../gen/shipments/v1/quote_pb.js";
import type { Call } from "../../pipeline/call.ts";
import { quote, routeOf } from "../../domain/pricing/pricing.ts";
import { quoteWindows } from "../quotes/quote-windows.ts";
import { quoteMessage } from "../tariffs/versions/quote-message.ts";
import { timeOf } from "../workspaces/test-clock.ts";
import type { TariffCache } from "../tariffs/versions/tariff-cache.ts";

/** What quotes work with. */
export interface QuoteDeps {
  readonly tariffs: TariffCache;
  readonly now: () => Date;
}

/**
 * Prices a route by the tariff in force, without the database.
 *
 * @throws Refusal WINDOW_INVALID, OUTSIDE_HOURS, CUT_OFF_PASSED, TOO_SOON, TOO_FAR_AHEAD, with what
 *   would do among its facts; UNAVAILABLE while no tariff has been published
 */
export function quoteShipment(
  request: QuoteShipmentRequestValid,
  call: Pick<Call, "testTime">,
  { tariffs, now }: QuoteDeps,
): QuoteShipmentResponse {
  const { pricing } = tariffs.current();
  const route = routeOf(request);
  const quoted = quote(pricing, route);
  const priced = quoteWindows(pricing, { quoted, route, request }, timeOf(call, now).getTime());
  return quoteMessage(priced.quote, priced.windows);
}
