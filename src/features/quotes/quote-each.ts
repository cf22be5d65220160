import { create, type Message } from "@bufbuild/protobuf";
import { BatchQuoteErrorSchema, type BatchQuoteError } from "../../../gen/shipments/v1/quote_pb.js";
import { Refusal, type Violation } from "../../domain/refusal.ts";
import type { Call, Decoding } from "../../pipeline/call.ts";

/**
 * Validates a route of a batch by the rules of its message.
 *
 * @param decoding errors from decoding, which are reported together with validation errors
 * @throws Refusal FIELD_INVALID
 */
export type ValidateRoute<R extends Message> = (route: R, decoding: Decoding) => void;

/**
 * Prices the routes of a batch independently.
 *
 * @returns a quote or an error for each route
 */
export function quoteEach<R extends Message, Q>(
  routes: readonly R[],
  { itemViolations, unknownFields }: Pick<Call, "itemViolations" | "unknownFields">,
  { validate, quote }: { readonly validate: ValidateRoute<R>; readonly quote: (route: R) => Q },
): { readonly quote?: Q; readonly error?: BatchQuoteError }[] {
  return routes.map((route, i) => {
    const violations = violationsOf(i, itemViolations);
    // A route that is not an object gets only this error, and none for missing fields.
    const unreadable = violations.find(({ subject }) => subject === "");
    if (unreadable !== undefined) return { error: errorMessage(new Refusal([unreadable])) };
    try {
      validate(route, { violations, unknownFields: fieldsOf(i, unknownFields) });
      return { quote: quote(route) };
    } catch (error) {
      // Errors that are not about a route fail the whole call.
      if (error instanceof Refusal && error.reason !== "UNAVAILABLE") {
        return { error: errorMessage(error) };
      }
      throw error;
    }
  });
}

function errorMessage({ message, violations, facts }: Refusal): BatchQuoteError {
  const errors = violations.map(({ subject, text }) => ({ field: subject ?? "", text }));
  return create(BatchQuoteErrorSchema, { message, errors, metadata: { ...facts } });
}

/** Returns the unknown fields of a route, with paths relative to the route. */
function fieldsOf(i: number, paths: readonly string[]): string[] {
  const start = `routes[${i}].`;
  return paths.filter((it) => it.startsWith(start)).map((it) => it.slice(start.length));
}

/** Returns the decoding errors of a route, with paths relative to the route. */
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
