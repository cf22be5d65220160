import { create, type Message } from "@bufbuild/protobuf";
import { BatchQuoteErrorSchema, type BatchQuoteError } from "../../../gen/shipments/v1/quote_pb.js";
import { Refusal, type Violation } from "../../domain/refusal.ts";
import type { Call, Decoding } from "../../pipeline/call.ts";

/**
 * Validates a route of a batch by the rules of its descriptor.
 *
 * @param decoding what was found when it was decoded, which is reported along with what is found now
 *
 * @throws Refusal FIELD_INVALID
 */
export type ValidateRoute<R extends Message> = (route: R, decoding: Decoding) => void;

/**
 * Prices the routes of a batch independently.
 *
 * @returns for each its quote, or what is wrong with it
 */
export function quoteEach<R extends Message, Q>(
  routes: readonly R[],
  { itemViolations, unknownFields }: Pick<Call, "itemViolations" | "unknownFields">,
  { validate, quote }: { readonly validate: ValidateRoute<R>; readonly quote: (route: R) => Q },
): { readonly quote?: Q; readonly error?: BatchQuoteError }[] {
  return routes.map((route, i) => {
    const violations = violationsOf(i, itemViolations);
    // A route that is no object at all has this one error, not one for each missing field.
    const unreadable = violations.find(({ subject }) => subject === "");
    if (unreadable !== undefined) return { error: errorMessage(new Refusal([unreadable])) };
    try {
      validate(route, { violations, unknownFields: fieldsOf(i, unknownFields) });
      return { quote: quote(route) };
    } catch (error) {
      // What no route is to blame for refuses the call.
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

/** The unknown fields of one route, with their paths in a call for that route alone. */
function fieldsOf(i: number, paths: readonly string[]): string[] {
  const start = `routes[${i}].`;
  return paths.filter((it) => it.startsWith(start)).map((it) => it.slice(start.length));
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
