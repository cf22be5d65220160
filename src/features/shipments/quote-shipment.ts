import type {
  QuoteShipmentRequestValid,
  QuoteShipmentResponse,
} from "../../../gen/shipments/v1/quote_pb.js";
import { quote, routeOf } from "../../domain/pricing/pricing.ts";
import { quoteMessage } from "../tariffs/versions/quote-message.ts";
import type { TariffCache } from "../tariffs/versions/tariff-cache.ts";

/**
 * Prices a route by the tariff in force, without the database.
 *
 * @throws Refusal UNAVAILABLE while no tariff has been published
 */
export function quoteShipment(
  request: QuoteShipmentRequestValid,
  _call: unknown,
  { tariffs }: { readonly tariffs: TariffCache },
): QuoteShipmentResponse {
  return quoteMessage(quote(tariffs.current().pricing, routeOf(request)));
}
