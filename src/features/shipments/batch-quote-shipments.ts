import { create } from "@bufbuild/protobuf";
import {
  BatchQuoteResultSchema,
  BatchQuoteShipmentsResponseSchema,
  type BatchQuoteResult,
  type BatchQuoteShipmentsRequestValid,
  type BatchQuoteShipmentsResponse,
  type QuoteShipmentRequest,
  type QuoteShipmentRequestValid,
} from "../../../gen/shipments/v1/quote_pb.js";
import { Refusal, type Problem } from "../../domain/refusal.ts";
import type { Call } from "../../pipeline/call.ts";
import { quoteShipment } from "./quote-shipment.ts";
import type { ShipmentDeps } from "./shipment-deps.ts";

/** Prices many routes independently: the errors of a route are in its own result. */
export function batchQuoteShipments(
  request: BatchQuoteShipmentsRequestValid,
  { faults }: Call,
  deps: ShipmentDeps,
): BatchQuoteShipmentsResponse {
  const results = request.routes.map((route, i) => quoteOne(route, faultsOf(i, faults), deps));
  return create(BatchQuoteShipmentsResponseSchema, { results });
}

function quoteOne(
  route: QuoteShipmentRequest,
  faults: readonly Problem[],
  { tariffs, validateQuote }: ShipmentDeps,
): BatchQuoteResult {
  // A route that is no object at all has this one error, not one for each missing field.
  const unreadable = faults.find(({ subject }) => subject === "");
  if (unreadable !== undefined) return errorResult(new Refusal([unreadable]));
  try {
    validateQuote(route, faults);
  } catch (error) {
    if (error instanceof Refusal) return errorResult(error);
    throw error;
  }
  const quote = quoteShipment(route as QuoteShipmentRequestValid, tariffs);
  return create(BatchQuoteResultSchema, { quote });
}

function errorResult({ message, problems }: Refusal): BatchQuoteResult {
  const errors = problems.map(({ subject, text }) => ({ field: subject ?? "", text }));
  return create(BatchQuoteResultSchema, { error: { message, errors } });
}

/** The decoding errors of one route, with the field paths of a call for that route alone. */
function faultsOf(i: number, faults: readonly Problem[]): Problem[] {
  const path = `routes[${i}]`;
  return faults
    .filter(({ subject }) => subject === path || subject?.startsWith(`${path}.`))
    .map(({ reason, subject = "", text }) => ({
      reason,
      subject: subject.slice(path.length + 1),
      text: text.replace(subject === path ? path : `${path}.`, subject === path ? "The route" : ""),
    }));
}
