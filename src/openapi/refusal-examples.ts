import { MAX_API_KEYS } from "../domain/limits.ts";
import {
  fixedViolation,
  isFixed,
  type FixedReason,
  type RefusalReason,
} from "../domain/refusal.ts";
import type { Audience } from "../pipeline/call.ts";
import { credentialError } from "../pipeline/credentials/read-key.ts";
import type { RefusedCall } from "./refused-call.ts";

/** What a refusal says, as the service words it. */
interface RefusalExample {
  readonly message: string;
  readonly errors: Readonly<Record<string, readonly string[]>>;
}

/** Gives the refusal of a call for a reason. */
export function refusalExample(reason: RefusalReason, call: RefusedCall): RefusalExample {
  if (isFixed(reason)) {
    const { subject, text } = fixedViolation(reason);
    return subject === undefined ? says(text) : about(subject, text);
  }
  const example = EXAMPLES[reason];
  if (example === undefined) throw new Error(`there is no example of ${reason}`);
  return typeof example === "function" ? example(call) : example;
}

/** How a refusal for its limit calls a caller. */
const CALLERS: Readonly<Record<Audience, string>> = {
  workspace: "workspace",
  operator: "operator",
  person: "account",
};

/** The role of an operator that comes before another one. */
const LESSER_ROLE: Readonly<Record<string, string>> = { operator: "viewer", owner: "operator" };

/** Examples of the reasons of methods that are not always worded alike. */
const EXAMPLES: {
  readonly [R in Exclude<RefusalReason, FixedReason>]?:
    | RefusalExample
    | ((call: RefusedCall) => RefusalExample);
} = {
  BODY_NOT_JSON: ({ body }) =>
    about(
      "body",
      body === "document"
        ? "The body must be sent without Content-Encoding."
        : "The body must be JSON: send it with Content-Type: application/json.",
    ),
  BODY_TOO_LARGE: ({ maxBytes }) =>
    about("body", `The body is larger than ${maxBytes / 1024} KiB.`),
  FIELD_INVALID: ({ violation }) => about(violation.subject, violation.text),
  CREDENTIAL_REFUSED: ({ audience }) => says(credentialError("is missing", audience).message),
  ROLE_INSUFFICIENT: ({ method: { name }, operatorRole }) =>
    says(insufficientRole(name, operatorRole)),
  SCOPE_INSUFFICIENT: ({ method: { name } }) =>
    says(`${name} needs a key of the scope full; that of yours is read_only.`),
  RATE_LIMITED: ({ audience, limitClass }) =>
    says(`The ${CALLERS[audience]} has used up its ${limitClass} calls; try again in 1 s.`),
  ETAG_STALE: ({ method: { name } }) => {
    const [subject = "draft"] = /Shipment$|Customer$/.exec(name) ?? [];
    const text = `etag is not the ${subject.toLowerCase()}'s any more: it was changed meanwhile. Read it again.`;
    return about("etag", text);
  },
  CUSTOMER_NOT_MERGEABLE: about(
    "from",
    "The customer to merge has more than 10,000 shipments; merge it the other way round.",
  ),
  BODY_UNREADABLE: about("body", 'The body is not valid JSON: unexpected "}" at line 1, column 9.'),
  SHIPMENT_STATE: about(
    "shipment",
    "The shipment cannot be cancelled because it is already cancelled.",
  ),
  EXTERNAL_REFERENCE_TAKEN: about(
    "external_reference",
    "external_reference belongs to the shipment SHP-4T8ZK2M0QWXE already.",
  ),
  PAYMENT_MISMATCH: about("amount", "amount must be the shipment's total, which is 12.69."),
  PAYMENT_PROVIDER_NOT_CONFIGURED: about(
    "payment_provider",
    "The platform has no account at Stripe.",
  ),
  PAYMENT_PROVIDER_REFUSED: about(
    "payment_provider",
    "The payment provider refuses: Invalid API Key provided.",
  ),
  CHECKOUT_AMOUNT: about("total", "total must be at least 0.5 USD to be paid at a checkout."),
  PRICE_CHANGED: about(
    "expected_total",
    "expected_total is 12 USD, but the booking would cost 12.69 USD.",
  ),
  QUOTE_USED: about("quote_id", "quote_id was booked already, as the shipment SHP-4T8ZK2M0QWXE."),
  QUOTE_EXPIRED: about(
    "quote_id",
    "The quote expired at 2026-11-22T12:15:00.000Z; by now the shipment would cost 12.69 USD. Ask for a new quote.",
  ),
  QUOTE_VOID: about(
    "quote_id",
    "The prices have changed, and quotes of before are not honoured; by now the shipment would cost 12.69 USD. Ask for a new quote.",
  ),
  QUOTE_MISMATCH: about(
    "weight_kg",
    "weight_kg is 3, but 2.5 in the quote; leave it out, or ask for another quote.",
  ),
  ROUTE_NOT_COVERED: about(
    "coverage",
    "The pickup point is outside the coverage zones, 1234 m from the nearest one.",
  ),
  WEIGHT_NOT_SERVED: about(
    "weight_kg",
    "No pricing tier covers 80 kg; weights above 0 kg and up to 50 kg are served.",
  ),
  WINDOW_INVALID: about("pickup_window", "pickup_window must last at least 10 minutes."),
  OUTSIDE_HOURS: about(
    "pickup_window",
    "pickup_window must be within the hours of its zone, whose time zone is Europe/Berlin; the next that can be booked is 2026-12-01T07:00:00.000Z to 2026-12-01T08:00:00.000Z.",
  ),
  CUT_OFF_PASSED: about(
    "pickup_window",
    "pickup_window had to be booked by 2026-11-30T16:00:00.000Z; the next that can be booked is 2026-12-01T12:00:00.000Z to 2026-12-01T13:00:00.000Z.",
  ),
  TOO_SOON: about(
    "pickup_window",
    "pickup_window must not start before 60 minutes from now; the next that can be booked is 2026-12-01T12:00:00.000Z to 2026-12-01T13:00:00.000Z.",
  ),
  TOO_FAR_AHEAD: about(
    "pickup_window",
    "pickup_window must start at most 30 days from today; the next that can be booked is 2026-12-01T12:00:00.000Z to 2026-12-01T13:00:00.000Z.",
  ),
  API_KEY_LIMIT: about(
    "api_key",
    `The workspace has ${MAX_API_KEYS} keys, and no more fit: revoke one first.`,
  ),
  API_KEY_LAST: about(
    "api_key",
    "This is the last key of full scope that works; create another first.",
  ),
  WORKSPACE_NOT_FOUND: says("There is no workspace 4711."),
  WORKSPACE_IS_TEST: about(
    "workspace",
    "Workspace 4712 is the test twin of 4711, which it follows: name that one.",
  ),
  TARIFF_VERSION_NOT_FOUND: says("There is no tariff version 99."),
  TARIFF_FAULTY: about(
    "base_fee",
    'base_fee must be a decimal of 0 or more in quotes, such as "5.00"; it is "free"',
  ),
  TARIFF_REPLACED: about(
    "replaces",
    "Version 3 is in force by now, not 2. Compare with it before you replace it.",
  ),
  TARIFF_SCHEDULED: about(
    "tariff",
    "Version 4 takes effect at 2026-12-01T00:00:00.000Z. Wait until then, or call it off.",
  ),
  TARIFF_NOT_SCHEDULED: about(
    "version",
    "Version 3 is in force; only one that is scheduled can be called off.",
  ),
  UNAVAILABLE: says("The service cannot reach its database; try again in a moment."),
};

/** Any operator may make a link, but only owners make one for somebody else. */
function insufficientRole(name: string, needed: string): string {
  const role = LESSER_ROLE[needed];
  return role === undefined
    ? "Links for other operators need the role owner; yours is viewer."
    : `${name} needs the role ${needed}; yours is ${role}.`;
}

/** A refusal that no field or subject is to blame for. */
function says(message: string): RefusalExample {
  return { message, errors: {} };
}

function about(subject: string, message: string): RefusalExample {
  return { message, errors: { [subject]: [message] } };
}
