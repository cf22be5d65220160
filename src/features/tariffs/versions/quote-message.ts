import { create } from "@bufbuild/protobuf";
import {
  QuoteFailureType,
  QuoteShipmentResponseSchema,
  type QuoteShipmentResponse,
} from "../../../../gen/shipments/v1/quote_pb.js";
import { toMajor } from "../../../domain/pricing/money.ts";
import { priceInMajor, type Quote } from "../../../domain/pricing/pricing.ts";

const FAILURE_TYPE = {
  coverage: QuoteFailureType.COVERAGE,
  weight: QuoteFailureType.WEIGHT,
} as const;

/** A quote as callers see it: the price, or the first failure that stands in its way. */
export function quoteMessage(quote: Quote): QuoteShipmentResponse {
  if (quote.covered) {
    return create(QuoteShipmentResponseSchema, { covered: true, ...priceInMajor(quote) });
  }
  const { failures, baseFeeMinor, currency } = quote;
  const [{ failure, message }] = failures;
  return create(QuoteShipmentResponseSchema, {
    covered: false,
    failureType: FAILURE_TYPE[failure],
    message,
    baseFee: toMajor(baseFeeMinor, currency),
    currency,
  });
}
