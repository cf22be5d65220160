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
import { Refusal, type Violation } from "../../domain/refusal.ts";
import type { Call } from "../../pipeline/call.ts";
import { quoteShipment } from "./quote-shipment.ts";
import type { ShipmentDeps } from "./change-shipment.ts";

/** Prices many routes independently: the errors of a route are in its own result. */
export function batchQuoteShipments(
  request: BatchQuoteShipmentsRequestValid,
  { itemViolations }: Call,
  deps: ShipmentDeps,
): BatchQuoteShipmentsResponse {
  const results = request.routes.map((route, i) =>
    quoteOne(route, violationsOf(i, itemViolations), deps),
  );
  return create(BatchQuoteShipmentsResponseSchema, { results });
}

function quoteOne(
  route: QuoteShipmentRequest,
  violations: readonly Violation[],
  { tariffs, validateQuote }: ShipmentDeps,
): BatchQuoteResult {
  // A route that is no object at all has this one error, not one for each missing field.
  const unreadable = violations.find(({ subject }) => subject === "");
  if (unreadable !== undefined) return errorResult(new Refusal([unreadable]));
  try {
    validateQuote(route, violations);
  } catch (error) {
    if (error instanceof Refusal) return errorResult(error);
    throw error;
  }
  const quote = quoteShipment(route as QuoteShipmentRequestValid, undefined, { tariffs });
  return create(BatchQuoteResultSchema, { quote });
}

function errorResult({ message, violations }: Refusal): BatchQuoteResult {
  const errors = violations.map(({ subject, text }) => ({ field: subject ?? "", text }));
  return create(BatchQuoteResultSchema, { error: { message, errors } });
}

/** The decoding errors of one route, with the field paths of a call for that route alone. */
function violationsOf(i: number, violations: readonly Violation[]): Violation[] {
  const path = `routes[${i}]`;
  return violations
    .filter(({ subject }) => subject === path || subject?.startsWith(`${path}.`))
    .map(({ reason, subject = "", text }) => ({
      reason,
      subject: subject.slice(path.length + 1),
      text: text.replace(subject === path ? path : `${path}.`, subject === path ? "The route" : ""),
    }));
}
