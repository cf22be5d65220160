import { QuoteShipmentResponseSchema } from "../../../../gen/shipments/v1/quote_pb.js";
import { toMajor } from "../../../domain/pricing/money.ts";
import { priceInMajor, type Quote } from "../../../domain/pricing/pricing.ts";
import type { Ends } from "../../../domain/route-ends.ts";
import type { BookedWindow } from "../../../domain/schedule/decide-windows.ts";
import { compileToMessage } from "../../../json/records.ts";
import { windowRecord } from "./window-message.ts";

const toMessage = compileToMessage(QuoteShipmentResponseSchema);

export function quoteMessage(quote: Quote, windows?: Partial<Ends<BookedWindow>>) {
  return toMessage(quoteRecord(quote, windows));
}

/** Returns a quote as an API record: the price, or the first reason why there is no price. */
export function quoteRecord(quote: Quote, { pickup, dropoff }: Partial<Ends<BookedWindow>> = {}) {
  const { covered } = quote;
  const failure = covered ? undefined : quote.failures[0];
  return {
    covered,
    failureType: failure?.failure,
    message: failure?.message,
    ...(covered ? priceInMajor(quote) : noPrice(quote)),
    pickupWindow: pickup && windowRecord(pickup),
    dropoffWindow: dropoff && windowRecord(dropoff),
  };
}

function noPrice({ baseFeeMinor, currency }: Quote): ReturnType<typeof priceInMajor> {
  const none = { distanceKm: 0, distanceFee: 0, weightFee: 0, subtotal: 0, windowFee: 0, total: 0 };
  return { ...none, baseFee: toMajor(baseFeeMinor, currency), currency };
}
