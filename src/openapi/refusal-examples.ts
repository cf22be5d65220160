import { MAX_API_KEYS, MAX_MEMBERS, MAX_TARIFF_DRAFTS, MAX_WEBHOOKS } from "../domain/limits.ts";
import type { RefusalReason } from "../domain/refusal.ts";
import type { Audience } from "../pipeline/call.ts";
import { credentialError } from "../pipeline/credentials/read-key.ts";
import type { RefusedCall } from "./refused-call.ts";

/** What a refusal says, as the service words it. */
interface RefusalExample {
  readonly message: string;
  readonly errors: Readonly<Record<string, readonly string[]>>;
}

type VaryingReason =
  | "BODY_NOT_JSON"
  | "BODY_TOO_LARGE"
  | "FIELD_INVALID"
  | "CREDENTIAL_REFUSED"
  | "ROLE_INSUFFICIENT"
  | "SCOPE_INSUFFICIENT"
  | "RATE_LIMITED"
  | "ETAG_STALE";

/** Gives the refusal of a call for a reason. */
export function refusalExample(reason: RefusalReason, call: RefusedCall): RefusalExample {
  return isVarying(reason) ? VARYING[reason](call) : FIXED[reason];
}

function isVarying(reason: RefusalReason): reason is VaryingReason {
  return reason in VARYING;
}

/** How a refusal for its limit calls a caller. */
const CALLERS: Readonly<Record<Audience, string>> = {
  workspace: "workspace",
  operator: "operator",
  person: "account",
};

/** The role of an operator that comes before another one. */
const LESSER_ROLE: Readonly<Record<string, string>> = { operator: "viewer", owner: "operator" };

/** The reasons whose words depend on the call. */
const VARYING: Readonly<Record<VaryingReason, (call: RefusedCall) => RefusalExample>> = {
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
  ETAG_STALE: ({ audience }) => {
    const subject = audience === "operator" ? "draft" : "shipment";
    const text = `etag is not the ${subject}'s any more: it was changed meanwhile. Read it again.`;
    return about("etag", text);
  },
};
/** The refusals whose words are the same for every call. */
const FIXED: Readonly<Record<Exclude<RefusalReason, VaryingReason>, RefusalExample>> = {
  REQUEST_MALFORMED: says("The request is not valid HTTP."),
  REQUEST_TIMEOUT: says("The request took too long to arrive."),
  HEADERS_TOO_LARGE: says("The headers are too large."),
  BODY_UNREADABLE: about("body", "The body is not valid JSON."),
  WORKSPACE_SUSPENDED: says(
    "The workspace is suspended: its calls are refused until the platform resumes it.",
  ),
  CROSS_SITE: says("Calls with a session are taken from pages of this site alone."),
  SIGN_IN_REFUSED: about(
    "token",
    "This link does not work: it was used, is older than 15 minutes, or is not complete.",
  ),
  NOT_A_MEMBER: says("You are no member of a workspace with this id."),
  NOT_AN_OPERATOR: says("Your account is not that of an operator of the platform."),
  NO_SUCH_METHOD: says("There is nothing at this path."),
  METHOD_NOT_ALLOWED: says("This path does not take that method; it takes GET, POST."),
  SHIPMENT_NOT_FOUND: says("There is no such shipment."),
  SHIPMENT_STATE: about(
    "shipment",
    "The shipment cannot be cancelled because it is already cancelled.",
  ),
  CUSTOMER_NOT_FOUND: says("There is no such customer."),
  CUSTOMER_TAKEN: about("customer", "Another customer of the workspace has this name and email."),
  EXTERNAL_REFERENCE_TAKEN: about(
    "external_reference",
    "external_reference belongs to the shipment SHP-4T8ZK2M0QWXE already.",
  ),
  IDEMPOTENCY_KEY_IN_USE: about(
    "idempotency_key",
    "A call with this idempotency key is still running; try again in a moment.",
  ),
  IDEMPOTENCY_KEY_REUSED: about(
    "idempotency_key",
    "This idempotency key came with another request before; use a new key for every request.",
  ),
  PAYMENT_MISMATCH: about("amount", "amount must be the shipment's total, which is 12.69."),
  PRICE_CHANGED: about(
    "expected_total",
    "expected_total is 12 USD, but the booking would cost 12.69 USD.",
  ),
  ROUTE_NOT_COVERED: about(
    "coverage",
    "The pickup point is outside the coverage zones, 1234 m from the nearest one.",
  ),
  WEIGHT_NOT_SERVED: about(
    "weight_kg",
    "No pricing tier covers 80 kg; weights above 0 kg and up to 50 kg are served.",
  ),
  PAYMENT_PROVIDER_NOT_CONNECTED: about(
    "payment_provider",
    "The workspace has no payment provider connected; connect one before booking.",
  ),
  EVENT_NOT_FOUND: says("There is no such event."),
  WEBHOOK_NOT_FOUND: says("There is no such webhook."),
  DELIVERY_NOT_FOUND: says("There is no such delivery."),
  WEBHOOK_LIMIT: about("webhook", `The workspace has ${MAX_WEBHOOKS} webhooks, and no more fit.`),
  WEBHOOK_DISABLED: about("webhook", "The webhook is disabled; enable it first."),
  API_KEY_NOT_FOUND: says("There is no such key."),
  API_KEY_LIMIT: about(
    "api_key",
    `The workspace has ${MAX_API_KEYS} keys, and no more fit: revoke one first.`,
  ),
  API_KEY_LAST: about(
    "api_key",
    "This is the last key of full scope that works; create another first.",
  ),
  MEMBER_NOT_FOUND: says("The workspace has no member with this id."),
  MEMBER_LIMIT: about("member", `The workspace has ${MAX_MEMBERS} members, and no more fit.`),
  MEMBER_LAST_ADMIN: about(
    "person",
    "This is the workspace's last admin; make somebody else an admin first.",
  ),
  SESSION_NOT_FOUND: says("You have no session with this id."),
  SESSION_BOUND: says(
    "This session is for one workspace alone, and others know you by this name too.",
  ),
  OPERATOR_NOT_FOUND: says("There is no such operator."),
  OPERATOR_EMAIL_TAKEN: about("email", "Another operator has this email."),
  OPERATOR_REVOKED: about("operator", "The operator was revoked, and cannot be changed."),
  OPERATOR_LAST_OWNER: about("operator", "The operator is the last owner: make another one first."),
  WORKSPACE_NOT_FOUND: says("There is no workspace 4711."),
  TARIFF_VERSION_NOT_FOUND: says("There is no tariff version 99."),
  TARIFF_DRAFT_NOT_FOUND: says("There is no such draft."),
  TARIFF_DRAFT_LIMIT: about(
    "tariff_draft",
    `There are ${MAX_TARIFF_DRAFTS} drafts, and no more fit; delete one.`,
  ),
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
  UNAVAILABLE: says("The service is starting; try again in a moment."),
  DEADLINE_EXCEEDED: says("The caller's deadline passed before the answer."),
  INTERNAL: says("The service failed; report this with the request id."),
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
