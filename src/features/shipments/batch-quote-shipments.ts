import { create } from "@bufbuild/protobuf";
import {
  BatchQuoteShipmentsResponseSchema,
  type BatchQuoteShipmentsRequestValid,
  type BatchQuoteShipmentsResponse,
  type QuoteShipmentRequestValid,
} from "../../../gen/shipments/v1/quote_pb.js";
import type { Call } from "../../pipeline/call.ts";
import { quoteEach } from "../quotes/quote-each.ts";
import { quoteShipment } from "./quote-shipment.ts";
import type { ShipmentDeps } from "./change-shipment.ts";

/** Prices many routes independently: the errors of a route are in its own result. */
export function batchQuoteShipments(
  { routes }: BatchQuoteShipmentsRequestValid,
  call: Call,
  { tariffs, validateQuote, now }: ShipmentDeps,
): BatchQuoteShipmentsResponse {
  const results = quoteEach(routes, call, {
    validate: validateQuote,
    quote: (route) => quoteShipment(route as QuoteShipmentRequestValid, call, { tariffs, now }),
  });
  return create(BatchQuoteShipmentsResponseSchema, { results });
}
