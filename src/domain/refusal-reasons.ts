import {
  MAX_API_KEYS,
  MAX_MEMBERS,
  MAX_SAVED_FILTERS,
  MAX_SIMULATIONS,
  MAX_TARIFF_DRAFTS,
  MAX_WEBHOOKS,
} from "./limits.ts";

/**
 * Reasons for refusals: a closed set, stable for programs. They are the `reason` of
 * `google.rpc.ErrorInfo` in the domain `shipments.v1` and the `code` of JSON errors. Each has a
 * message that follows the field or subject. Messages with "e.g." are examples. `npm run generate`
 * lists them in `docs/errors.md`.
 */
export const REASONS = {
  ...answered("InvalidArgument", 400, {
    REQUEST_MALFORMED: "e.g. The request is not valid HTTP.",
    BODY_UNREADABLE: 'e.g. body: The body is not valid JSON: unexpected "}" at line 1, column 9.',
  }),
  ...answered("Unauthenticated", 401, {
    CREDENTIAL_REFUSED:
      "e.g. The credential is missing. Send the workspace's API key as Authorization: Bearer shp_... or X-Api-Key: shp_....",
  }),
  ...answered("PermissionDenied", 403, {
    WORKSPACE_SUSPENDED:
      "The workspace is suspended: its calls are refused until the platform resumes it.",
    ROLE_INSUFFICIENT: "e.g. PublishTariff needs the role owner; yours is operator.",
    SCOPE_INSUFFICIENT:
      "e.g. CreateShipment needs a key of the scope full; that of yours is read_only.",
    LIVE_MODE_ONLY:
      "This works in live mode alone; use a live key, which begins with shp_ but not with shp_test_.",
    TEST_MODE_ONLY: "This works in test mode alone, as with a key that begins with shp_test_.",
    CROSS_SITE: "Calls with a session are taken from pages of this site alone.",
    SIGN_IN_REFUSED:
      "e.g. token: This link does not work: it was used, is older than 15 minutes, or is not complete.",
    SESSION_BOUND: "This session is for one workspace alone, and others know you by this name too.",
    NOT_A_MEMBER: "You are no member of a workspace with this id.",
    NOT_AN_OPERATOR: "Your account is not that of an operator of the platform.",
  }),
  ...answered("Unimplemented", 404, {
    NO_SUCH_METHOD: "e.g. There is nothing at this path; did you mean /v1/shipments?",
  }),
  ...answered("NotFound", 404, {
    SHIPMENT_NOT_FOUND: "e.g. There is no such shipment.",
    PLACE_NOT_FOUND: "Nobody has said within the last hour where the shipment's courier is.",
    PICTURE_NOT_FOUND: "The shipment has no such picture, or it was deleted after 90 days.",
    CUSTOMER_NOT_FOUND: "There is no such customer.",
    EVENT_NOT_FOUND: "There is no such event.",
    WEBHOOK_NOT_FOUND: "There is no such webhook.",
    DELIVERY_NOT_FOUND: "There is no such delivery.",
    API_KEY_NOT_FOUND: "There is no such key.",
    MEMBER_NOT_FOUND: "The workspace has no member with this id.",
    SESSION_NOT_FOUND: "You have no session with this id.",
    SAVED_FILTER_NOT_FOUND: "You have saved no filter with this id in the workspace.",
    OPERATOR_NOT_FOUND: "There is no such operator.",
    WORKSPACE_NOT_FOUND: "e.g. There is no workspace 4711.",
    TARIFF_VERSION_NOT_FOUND: "e.g. There is no tariff version 99.",
    TARIFF_DRAFT_NOT_FOUND: "There is no such draft.",
  }),
  ...answered("Unimplemented", 405, {
    METHOD_NOT_ALLOWED: "e.g. This path does not take that method; it takes GET, POST.",
  }),
  ...answered("DeadlineExceeded", 408, { REQUEST_TIMEOUT: "The request took too long to arrive." }),
  ...answered("AlreadyExists", 409, {
    CUSTOMER_TAKEN: "customer: Another customer of the workspace has this name and email.",
    EXTERNAL_REFERENCE_TAKEN:
      "e.g. external_reference: external_reference belongs to the shipment SHP-4T8ZK2M0QWXE already.",
    QUOTE_USED: "e.g. quote_id: quote_id was booked already, as the shipment SHP-4T8ZK2M0QWXE.",
    SAVED_FILTER_NAME_TAKEN: "name: You have saved another filter under this name.",
    OPERATOR_EMAIL_TAKEN: "email: Another operator has this email.",
  }),
  ...answered("Aborted", 409, {
    ETAG_STALE:
      "e.g. etag: etag is not the shipment's any more: it was changed meanwhile. Read it again.",
    IDEMPOTENCY_KEY_IN_USE:
      "idempotency_key: A call with this idempotency key is still running; try again in a moment.",
    TARIFF_REPLACED:
      "e.g. replaces: Version 3 is in force by now, not 2. Compare with it before you replace it.",
    TARIFF_SCHEDULED:
      "e.g. tariff: Version 4 takes effect at 2026-12-01T00:00:00.000Z. Wait until then, or call it off.",
  }),
  ...answered("ResourceExhausted", 413, {
    BODY_TOO_LARGE: "e.g. body: The body is larger than 64 KiB.",
  }),
  ...answered("InvalidArgument", 415, {
    BODY_NOT_JSON:
      'e.g. body: Content-Type is "text/plain". Send a JSON body with Content-Type: application/json.',
  }),
  ...answered("InvalidArgument", 422, { FIELD_INVALID: "e.g. weight_kg: weight_kg is required." }),
  ...answered("FailedPrecondition", 422, {
    WORKSPACE_IS_TEST:
      "e.g. workspace: Workspace 4712 is the test twin of 4711, which it follows: name that one.",
    SHIPMENT_STATE:
      "e.g. shipment: The shipment cannot be cancelled because it is already cancelled.",
    NOT_VERIFIED:
      "e.g. dropoff_verification: The shipment cannot be delivered because its photo was not recorded; record it, or waive the verification.",
    PIN_WRONG:
      "e.g. pin: pin is not the shipment's; 3 more tries are left, then its verification has to be waived.",
    CUSTOMER_NOT_MERGEABLE:
      "e.g. from: The customer to merge has more than 10,000 shipments; merge it the other way round.",
    IDEMPOTENCY_KEY_REUSED:
      "idempotency_key: This idempotency key came with another request before; use a new key for every request.",
    PAYMENT_MISMATCH: "e.g. amount: amount must be the shipment's total, which is 12.69.",
    PRICE_CHANGED:
      "e.g. expected_total: expected_total is 12 USD, but the booking would cost 12.69 USD.",
    QUOTE_UNKNOWN:
      "quote_id: quote_id is no quote of the workspace, or one of days ago; ask for a new quote.",
    QUOTE_EXPIRED:
      "e.g. quote_id: The quote expired at 2026-11-22T12:15:00.000Z; by now the shipment would cost 12.69 USD. Ask for a new quote.",
    QUOTE_VOID:
      "e.g. quote_id: The prices have changed, and quotes of before are not honoured; by now the shipment would cost 12.69 USD. Ask for a new quote.",
    QUOTE_MISMATCH:
      "e.g. weight_kg: weight_kg is 3, but 2.5 in the quote; leave it out, or ask for another quote.",
    ROUTE_NOT_COVERED:
      "e.g. coverage: The pickup point is outside the coverage zones, 1234 m from the nearest one.",
    WEIGHT_NOT_SERVED:
      "e.g. weight_kg: No pricing tier covers 80 kg; weights above 0 kg and up to 50 kg are served.",
    WINDOW_INVALID: "e.g. pickup_window: pickup_window must last at least 10 minutes.",
    OUTSIDE_HOURS:
      "e.g. pickup_window: pickup_window must be within the hours of its zone, whose time zone is Europe/Berlin; the next that can be booked is 2026-12-01T07:00:00.000Z to 2026-12-01T08:00:00.000Z.",
    CUT_OFF_PASSED:
      "e.g. pickup_window: pickup_window had to be booked by 2026-11-30T16:00:00.000Z; the next that can be booked is 2026-12-01T12:00:00.000Z to 2026-12-01T13:00:00.000Z.",
    TOO_SOON:
      "e.g. pickup_window: pickup_window must not start before 60 minutes from now; the next that can be booked is 2026-12-01T12:00:00.000Z to 2026-12-01T13:00:00.000Z.",
    TOO_FAR_AHEAD:
      "e.g. pickup_window: pickup_window must start at most 30 days from today; the next that can be booked is 2026-12-01T12:00:00.000Z to 2026-12-01T13:00:00.000Z.",
    PAYMENT_PROVIDER_NOT_CONNECTED:
      "payment_provider: The workspace has no payment provider connected; connect one before booking.",
    PAYMENT_PROVIDER_NOT_READY:
      "payment_provider: The payment provider takes no payments for the workspace now; look at its connection.",
    PAYMENT_PROVIDER_NOT_CONFIGURED:
      "e.g. payment_provider: The platform has no account at Stripe.",
    PAYMENT_PROVIDER_REFUSED:
      "e.g. payment_provider: The payment provider refuses: Invalid API Key provided.",
    PAYMENT_NOT_CONFIRMED:
      "payment: The payment provider does not confirm it; what it says is in the shipment's payment_details.",
    PAYMENT_DISPUTED:
      "payment: The payment is disputed. It cannot be refunded until the dispute is decided.",
    CHECKOUT_UNAVAILABLE:
      "payment_provider: The payment provider has no page to pay at; record the payment instead.",
    CHECKOUT_AMOUNT: "e.g. total: total must be at least 0.5 USD to be paid at a checkout.",
    PAYMENTS_OPEN:
      "payment_provider: Payments or refunds of the workspace are open at the payment provider; wait for their end.",
    GEOCODER_NOT_CONFIGURED:
      "geocoder: The platform has no geocoder: an operator of it sets GEOCODER and GEOCODER_URL to have one.",
    WEBHOOK_LIMIT: `webhook: The workspace has ${MAX_WEBHOOKS} webhooks, and no more fit.`,
    WEBHOOK_DISABLED: "webhook: The webhook is disabled; enable it first.",
    API_KEY_LIMIT: `e.g. api_key: The workspace has ${MAX_API_KEYS} keys, and no more fit: revoke one first.`,
    API_KEY_LAST:
      "e.g. api_key: This is the last key of full scope that works; create another first.",
    MEMBER_LIMIT: `member: The workspace has ${MAX_MEMBERS} members, and no more fit.`,
    MEMBER_LAST_ADMIN:
      "person: This is the workspace's last admin; make somebody else an admin first.",
    SAVED_FILTER_LIMIT: `saved_filter: You have saved ${MAX_SAVED_FILTERS} filters in the workspace, or so many are shared there, and no more fit.`,
    OPERATOR_REVOKED: "operator: The operator was revoked, and cannot be changed.",
    OPERATOR_LAST_OWNER: "operator: The operator is the last owner: make another one first.",
    TARIFF_DRAFT_LIMIT: `tariff_draft: There are ${MAX_TARIFF_DRAFTS} drafts, and no more fit; delete one.`,
    TARIFF_FAULTY:
      'e.g. base_fee: base_fee must be a decimal of 0 or more in quotes, such as "5.00"; it is "free"',
    TARIFF_NOT_SCHEDULED:
      "e.g. version: Version 3 is in force; only one that is scheduled can be called off.",
  }),
  ...answered("ResourceExhausted", 422, {
    SIMULATION_LIMIT: `simulation: ${MAX_SIMULATIONS} simulations are under way in test mode, and no more fit: wait until some end, move the test clock on, or delete the test data.`,
  }),
  ...answered("ResourceExhausted", 429, {
    RATE_LIMITED: "e.g. The workspace has used up its write calls; try again in 1 s.",
  }),
  ...answered("ResourceExhausted", 431, { HEADERS_TOO_LARGE: "The headers are too large." }),
  ...answered("Internal", 500, {
    INTERNAL: "The service failed; report this with the request id.",
  }),
  ...answered("Unavailable", 503, {
    UNAVAILABLE: "e.g. The service cannot reach its database; try again in a moment.",
  }),
  ...answered("DeadlineExceeded", 504, {
    DEADLINE_EXCEEDED: "The caller's deadline passed before the answer.",
    REQUEST_TOO_SLOW:
      "The request took longer than the service allows, and was ended; ask for less at a time, or try again in some minutes.",
  }),
};

/** Defines reasons with a common gRPC code (in Connect's spelling) and HTTP status. */
function answered<C extends string, const T extends Readonly<Record<string, string>>>(
  code: C,
  httpStatus: number,
  texts: T,
) {
  const reasons = Object.entries(texts).map(([reason, given]) => {
    const [, example, subject, text] = /^(e\.g\. )?(?:([a-z_]+): )?(.*)$/.exec(given)!;
    return [reason, { code, httpStatus, isFixed: example === undefined, subject, text }];
  });
  return Object.fromEntries(reasons) as {
    readonly [R in keyof T]: Answer<C, T[R] extends `e.g. ${string}` ? false : true>;
  };
}

/** Response to a call that is refused for a reason. */
interface Answer<Code extends string, Fixed extends boolean> {
  readonly code: Code;
  readonly httpStatus: number;
  /** Whether the message is always the same. Otherwise the text is an example. */
  readonly isFixed: Fixed;
  readonly subject?: string;
  readonly text: string;
}
