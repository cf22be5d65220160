import { create } from "@bufbuild/protobuf";
import {
  QuoteFailureType,
  QuoteShipmentResponseSchema,
  type QuoteShipmentRequestValid,
  type QuoteShipmentResponse,
} from "../../../gen/shipments/v1/quote_pb.js";
import { toMajor } from "../../domain/pricing/money.ts";
import { quote, type UncoveredQuote } from "../../domain/pricing/pricing.ts";
import type { TariffCache } from "../tariffs/tariff-cache.ts";
import { priceInMajor } from "./price.ts";
import { routeOf } from "./route-of.ts";

/**
 * Prices a route by the tariff in force, without the database.
 *
 * @throws Refusal UNAVAILABLE while no tariff has been published
 */
export function quoteShipment(
  request: QuoteShipmentRequestValid,
  tariffs: TariffCache,
): QuoteShipmentResponse {
  const result = quote(tariffs.current().pricing, routeOf(request));
  return result.covered
    ? create(QuoteShipmentResponseSchema, { covered: true, ...priceInMajor(result) })
    : notServed(result);
}

const FAILURE_TYPE = {
  coverage: QuoteFailureType.COVERAGE,
  weight: QuoteFailureType.WEIGHT,
} as const;

function notServed({ problems, baseFeeMinor, currency }: UncoveredQuote): QuoteShipmentResponse {
  const [{ failure, message }] = problems;
  return create(QuoteShipmentResponseSchema, {
    covered: false,
    failureType: FAILURE_TYPE[failure],
    message,
    baseFee: toMajor(baseFeeMinor, currency),
    currency,
  });
}
