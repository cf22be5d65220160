import { create } from "@bufbuild/protobuf";
import {
  BatchCreateQuotesResponseSchema,
  type BatchCreateQuotesRequestValid,
  type BatchCreateQuotesResponse,
  type CreateQuoteRequestValid,
} from "../../../gen/shipments/v1/quote_service_pb.js";
import type { Call } from "../../pipeline/call.ts";
import { makeQuote, type QuoteDeps } from "./create-quote.ts";
import { quoteEach } from "./quote-each.ts";
import { madeQuoteMessage } from "./quote-response.ts";

/** Makes many quotes independently: the errors of a route are in its own result. */
export function batchCreateQuotes(
  { routes }: BatchCreateQuotesRequestValid,
  call: Call,
  deps: QuoteDeps,
): BatchCreateQuotesResponse {
  const results = quoteEach(routes, call, {
    validate: deps.validateNewQuote,
    quote: (route) => madeQuoteMessage(makeQuote(route as CreateQuoteRequestValid, call, deps)),
  });
  return create(BatchCreateQuotesResponseSchema, { results });
}
