import { create } from "@bufbuild/protobuf";
import {
  QuoteFailureType,
  QuoteShipmentResponseSchema,
  type QuoteShipmentResponse,
} from "../../../../gen/shipments/v1/quote_pb.js";
import type { BookedWindow, Ends } from "../../../domain/schedule/decide-windows.ts";
import { toMajor } from "../../../domain/pricing/money.ts";
import { priceInMajor, type Quote } from "../../../domain/pricing/pricing.ts";
import { windowMessage } from "./window-message.ts";

/** What kinds of failures are called for callers. */
export const FAILURE_TYPE = {
  coverage: QuoteFailureType.COVERAGE,
  weight: QuoteFailureType.WEIGHT,
  window: QuoteFailureType.WINDOW,
} as const;

/** A quote as callers see it: the price, or the first failure that stands in its way. */
export function quoteMessage(
  quote: Quote,
  { pickup, dropoff }: Partial<Ends<BookedWindow>> = {},
): QuoteShipmentResponse {
  if (quote.covered) {
    return create(QuoteShipmentResponseSchema, {
      covered: true,
      ...priceInMajor(quote),
      pickupWindow: pickup && windowMessage(pickup),
      dropoffWindow: dropoff && windowMessage(dropoff),
    });
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
