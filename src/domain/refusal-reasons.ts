import {
  MAX_API_KEYS,
  MAX_COURIER_LINKS,
  MAX_COURIERS,
  MAX_HOLDS,
  MAX_MEMBERS,
  MAX_SAVED_FILTERS,
  MAX_SIMULATIONS,
  MAX_TARIFF_DRAFTS,
  MAX_WEBHOOKS,
} from "./limits.ts";

/**
 * Reasons for refusals: a closed set on which clients can rely. A reason is the `reason` of `google.rpc.ErrorInfo` in
 * the domain `shipments.v1` and the `code` of JSON errors. Each reason has a message that follows the field or subject,
 * and a remedy for the errors guide and for agents. Messages that begin with "e.g." are examples. Remedies refer to
 * RPCs in backticks, such as `CreateQuote`. `npm run generate` lists the reasons in `docs/errors.md`.
 */
export const REASONS = {
  ...answered("InvalidArgument", 400, {
    REQUEST_MALFORMED: [
      "e.g. The request is not valid HTTP.",
      "Use an HTTP client. Check the port and the `Host` header.",
    ],
    BODY_UNREADABLE: [
      'e.g. body: The body is not valid JSON: unexpected "}" at line 1, column 9.',
      "Send valid JSON in UTF-8.",
    ],
  }),
  ...answered("Unauthenticated", 401, {
    CREDENTIAL_REFUSED: [
      "e.g. The credential is missing. Send the workspace's API key as Authorization: Bearer shp_... or X-Api-Key: shp_....",
      "Send an active key: `shp_` for workspaces, `sho_` for operators.",
    ],
  }),
  ...answered("PermissionDenied", 403, {
    WORKSPACE_SUSPENDED: [
      "The workspace is suspended: its calls are refused until an operator resumes it.",
      "Ask an operator to resume the workspace.",
    ],
    ROLE_INSUFFICIENT: [
      "e.g. PublishTariff requires the role owner. Your role is operator.",
      "Ask a person with the required role.",
    ],
    SCOPE_INSUFFICIENT: [
      "e.g. CreateShipment requires a key with the scope full. Your key has the scope read_only.",
      "Use a key with the required scope.",
    ],
    LIVE_MODE_ONLY: [
      "This call works only in live mode. Use a live key, which begins with shp_ but not with shp_test_.",
      "Use a live key.",
    ],
    TEST_MODE_ONLY: [
      "This call works only in test mode. Use a test key, which begins with shp_test_.",
      "Use a test key.",
    ],
    CROSS_SITE: ["Session requests must come from a page on this site.", "Call from a dashboard page, or use a key."],
    SIGN_IN_REFUSED: [
      "e.g. token: This link is not valid: it was already used, is older than 15 minutes, or is incomplete.",
      "Request another link.",
    ],
    COURIER_LINK_INVALID: [
      "token: This link is not valid: it has expired, was revoked, or is incomplete.",
      "Ask the sender for another link.",
    ],
    SESSION_BOUND: [
      "This session is limited to one workspace, but your other workspaces use this name too.",
      "Sign in by email or through the identity provider.",
    ],
    NOT_A_MEMBER: ["You are not a member of a workspace with this id.", "Ask an admin of the workspace to invite you."],
    NOT_AN_OPERATOR: [
      "Your account does not belong to an operator of the platform.",
      "Ask an owner of the platform to add you.",
    ],
  }),
  ...answered("Unimplemented", 404, {
    NO_SUCH_METHOD: ["e.g. This path does not exist. Did you mean /v1/shipments?", "Check the path and the method."],
  }),
  ...answered("NotFound", 404, {
    SHIPMENT_NOT_FOUND: [
      "e.g. Shipment not found.",
      "Check the reference with `SearchShipments`, and the key's workspace and mode.",
    ],
    PLACE_NOT_FOUND: [
      "The courier's location has not been reported in the last hour.",
      "Wait until the courier's location is reported.",
    ],
    PICTURE_NOT_FOUND: [
      "The shipment has no such picture, or it was deleted after 90 days.",
      "Check the shipment's `proof` first.",
    ],
    CUSTOMER_NOT_FOUND: ["Customer not found.", "Find the id with `ListCustomers`."],
    COURIER_NOT_FOUND: ["Courier not found, or the courier is archived.", "Find the id with `ListCouriers`."],
    COURIER_LINK_NOT_FOUND: ["Link not found.", "No action needed: the link was revoked or has expired."],
    EVENT_NOT_FOUND: ["Event not found.", "Check the id. The event may have been deleted."],
    WEBHOOK_NOT_FOUND: ["Webhook not found.", "Find the id with `ListWebhooks`."],
    DELIVERY_NOT_FOUND: ["Delivery not found.", "Check the id. Deliveries are kept for 30 days."],
    API_KEY_NOT_FOUND: ["Key not found.", "Find the id with `ListApiKeys`."],
    MEMBER_NOT_FOUND: ["The workspace has no member with this id.", "Find the id with `ListMembers`."],
    SESSION_NOT_FOUND: ["You have no session with this id.", "No action needed: the session has ended."],
    SAVED_FILTER_NOT_FOUND: ["You have no saved filter with this id in the workspace.", "Reload your saved filters."],
    OPERATOR_NOT_FOUND: ["Operator not found.", "Check the id. `include_revoked` lists revoked operators too."],
    WORKSPACE_NOT_FOUND: ["e.g. There is no workspace 4711.", "Find the id with `ListWorkspaces`."],
    SLOT_NOT_FOUND: [
      "e.g. schedule: The tariff in force has no schedule with this name.",
      "See `GetTariffVersionSchedules`.",
    ],
    TARIFF_VERSION_NOT_FOUND: ["e.g. There is no tariff version 99.", "Find the number with `ListTariffVersions`."],
    TARIFF_DRAFT_NOT_FOUND: ["Draft not found.", "List the drafts. This draft was published or deleted."],
  }),
  ...answered("Unimplemented", 405, {
    METHOD_NOT_ALLOWED: [
      "e.g. This path does not support that method. It supports GET, POST.",
      "Use a method from the `Allow` header.",
    ],
  }),
  ...answered("DeadlineExceeded", 408, {
    REQUEST_TIMEOUT: ["The request took too long to arrive.", "Retry, and send the body without pauses."],
  }),
  ...answered("AlreadyExists", 409, {
    CUSTOMER_TAKEN: [
      "customer: Another customer of the workspace has this name and email.",
      "Use that customer, or merge the two customers.",
    ],
    EXTERNAL_REFERENCE_TAKEN: [
      "e.g. external_reference: external_reference already belongs to the shipment SHP-4T8ZK2M0QWXE.",
      "Use the existing shipment (`shipment` in `metadata`), or another `external_reference`.",
    ],
    SLOT_FULL: [
      "e.g. pickup_window: pickup_window is full.",
      "Use the window in `metadata`, or see `ListPickupSlots`.",
    ],
    COURIER_TAKEN: [
      "external_id: Another courier of the workspace has this external_id.",
      "Find that courier with `ListCouriers`, or use another external id.",
    ],
    QUOTE_USED: [
      "e.g. quote_id: quote_id was already booked as the shipment SHP-4T8ZK2M0QWXE.",
      "Use the existing shipment (`shipment` in `metadata`), or request a new quote with `CreateQuote`.",
    ],
    SAVED_FILTER_NAME_TAKEN: ["name: You have saved another filter under this name.", "Choose another name."],
    OPERATOR_EMAIL_TAKEN: ["email: Another operator has this email.", "Update that operator, or use another email."],
  }),
  ...answered("Aborted", 409, {
    ETAG_STALE: [
      "e.g. etag: etag is stale because the shipment was changed. Read it again.",
      "Read the object again, reapply your change, and send the new `etag`.",
    ],
    IDEMPOTENCY_KEY_IN_USE: [
      "idempotency_key: A call with this idempotency key is still running. Try again in a moment.",
      "Retry after the time in `Retry-After`.",
    ],
    TARIFF_REPLACED: [
      "e.g. replaces: Version 3 is now in force, not 2. Compare it with your draft before you replace it.",
      "Compare the versions, then send the current version as `replaces`.",
    ],
    TARIFF_SCHEDULED: [
      "e.g. tariff: Version 4 takes effect at 2026-12-01T00:00:00.000Z. Wait until then, or cancel it.",
      "Wait, or cancel the scheduled version.",
    ],
  }),
  ...answered("ResourceExhausted", 413, {
    BODY_TOO_LARGE: ["e.g. body: The body is larger than 64 KiB.", "Send a smaller request."],
  }),
  ...answered("InvalidArgument", 415, {
    BODY_NOT_JSON: [
      'e.g. body: Content-Type is "text/plain". Send a JSON body with Content-Type: application/json.',
      "Send `Content-Type: application/json`.",
    ],
  }),
  ...answered("InvalidArgument", 422, {
    FIELD_INVALID: ["e.g. weight_kg: weight_kg is required.", "Fix each field in `errors`."],
  }),
  ...answered("FailedPrecondition", 422, {
    WORKSPACE_IS_TEST: [
      "e.g. workspace: Workspace 4712 is the test twin of workspace 4711. Use workspace 4711.",
      "Use the id of the live workspace.",
    ],
    SHIPMENT_STATE: [
      "e.g. shipment: The shipment cannot be cancelled because it is already cancelled.",
      "Check the shipment with `GetShipment`. An earlier call may have succeeded.",
    ],
    NOT_VERIFIED: [
      "e.g. dropoff_verification: The shipment cannot be delivered because its photo was not recorded. Record it, or waive the verification.",
      "Call `RecordProof` or `WaiveVerification`.",
    ],
    PIN_WRONG: [
      "e.g. pin: pin is wrong. 3 attempts are left. After that, the verification must be waived.",
      "Ask the recipient again. After five wrong PINs, call `WaiveVerification`.",
    ],
    CUSTOMER_NOT_MERGEABLE: [
      "e.g. from: The customer to merge has more than 10,000 shipments. Merge the other customer into it instead.",
      "Merge the customer with fewer shipments.",
    ],
    IDEMPOTENCY_KEY_REUSED: [
      "idempotency_key: This idempotency key was already used for another request. Use a new key for each request.",
      "Use a new key for each request.",
    ],
    PAYMENT_MISMATCH: ["e.g. amount: amount must be the shipment's total, which is 12.69.", "Record the full total."],
    PRICE_CHANGED: [
      "e.g. expected_total: expected_total is 12 USD, but the booking would cost 12.69 USD.",
      "Show the new price, which is in `metadata`, and book at that price.",
    ],
    QUOTE_UNKNOWN: [
      "quote_id: quote_id is not a quote of this workspace, or it is too old. Request a new quote.",
      "Request a new quote with `CreateQuote`.",
    ],
    QUOTE_EXPIRED: [
      "e.g. quote_id: The quote expired at 2026-11-22T12:15:00.000Z. The shipment would now cost 12.69 USD. Request a new quote.",
      "Request a new quote with `CreateQuote`, and show its price.",
    ],
    QUOTE_VOID: [
      "e.g. quote_id: The prices have changed, and earlier quotes are no longer valid. The shipment would now cost 12.69 USD. Request a new quote.",
      "Request a new quote with `CreateQuote`, and show its price.",
    ],
    QUOTE_MISMATCH: [
      "e.g. weight_kg: weight_kg is 3, but 2.5 in the quote. Omit it, or request another quote.",
      "Omit the field, or request another quote with `CreateQuote`.",
    ],
    ROUTE_NOT_COVERED: [
      "e.g. coverage: The pickup point is outside the coverage zones, 1234 m from the nearest one.",
      "Check whether latitude and longitude are swapped. Show the coverage.",
    ],
    WEIGHT_NOT_SERVED: [
      "e.g. weight_kg: No pricing tier covers 80 kg; weights above 0 kg and up to 50 kg are served.",
      "Split the goods, or check the unit (kg).",
    ],
    WINDOW_INVALID: [
      "e.g. pickup_window: pickup_window must last at least 10 minutes.",
      "Choose a slot from `ListPickupSlots`.",
    ],
    OUTSIDE_HOURS: [
      "e.g. pickup_window: pickup_window must be within the hours of its zone, in the time zone Europe/Berlin. The next available window is 2026-12-01T07:00:00.000Z to 2026-12-01T08:00:00.000Z.",
      "Offer `next_available`, or a slot from `ListPickupSlots`.",
    ],
    CUT_OFF_PASSED: [
      "e.g. pickup_window: pickup_window had to be booked by 2026-11-30T16:00:00.000Z. The next available window is 2026-12-01T12:00:00.000Z to 2026-12-01T13:00:00.000Z.",
      "Offer `next_available`, or a slot from `ListPickupSlots`.",
    ],
    TOO_SOON: [
      "e.g. pickup_window: pickup_window must start at least 60 minutes from now. The next available window is 2026-12-01T12:00:00.000Z to 2026-12-01T13:00:00.000Z.",
      "Offer `next_available`, or a slot from `ListPickupSlots`.",
    ],
    TOO_FAR_AHEAD: [
      "e.g. pickup_window: pickup_window must start at most 30 days from today. The next available window is 2026-12-01T12:00:00.000Z to 2026-12-01T13:00:00.000Z.",
      "Choose an earlier slot from `ListPickupSlots`.",
    ],
    PAYMENT_PROVIDER_NOT_CONNECTED: [
      "payment_provider: The workspace has no payment provider connected. Connect one before booking.",
      "Connect Stripe, or ask an operator to connect `manual`.",
    ],
    PAYMENT_PROVIDER_NOT_READY: [
      "payment_provider: The payment provider does not accept payments for the workspace at present. Check its connection.",
      "Provide the information that `missing` in `GetPaymentConnection` lists.",
    ],
    PAYMENT_PROVIDER_NOT_CONFIGURED: [
      "e.g. payment_provider: The platform has no account at Stripe.",
      "Ask an operator to set `STRIPE_SECRET_KEY`, or use your own key.",
    ],
    PAYMENT_PROVIDER_REFUSED: [
      "e.g. payment_provider: The payment provider refused the request: Invalid API Key provided.",
      "Fix the error that the provider reports.",
    ],
    PAYMENT_NOT_CONFIRMED: [
      "payment: The payment provider has not confirmed the payment. See the shipment's payment_details.",
      "Wait until the provider confirms the payment.",
    ],
    PAYMENT_DISPUTED: [
      "payment: The payment is disputed. It cannot be refunded until the dispute is decided.",
      "Wait until the dispute is decided.",
    ],
    CHECKOUT_UNAVAILABLE: [
      "payment_provider: The payment provider has no checkout page. Record the payment instead.",
      "Call `RecordPayment` instead.",
    ],
    CHECKOUT_AMOUNT: [
      "e.g. total: total must be at least 0.5 USD to be paid at a checkout.",
      "Use another payment method, or change the shipment.",
    ],
    PAYMENTS_OPEN: [
      "payment_provider: The workspace has pending payments or refunds at the payment provider. Wait until they are complete.",
      "Wait until they complete, or resolve them.",
    ],
    GEOCODER_NOT_CONFIGURED: [
      "geocoder: The platform has no geocoder. An operator can set GEOCODER and GEOCODER_URL.",
      "Send coordinates, or ask an operator to set `GEOCODER`.",
    ],
    COURIER_LIMIT: [
      `courier: The workspace has reached its limit of ${MAX_COURIERS.toLocaleString("en-US")} couriers. Archive one first.`,
      "Archive a courier.",
    ],
    COURIER_LINK_LIMIT: [
      `link: The courier has reached the limit of ${MAX_COURIER_LINKS} links. Revoke one first.`,
      "Revoke a link.",
    ],
    COURIER_EMAIL_MISSING: [
      "email: The courier has no email address. Add one, or create a link without send_email and share it.",
      "Set `email`, or omit `send_email`.",
    ],
    EMAIL_UNAVAILABLE: [
      "e.g. send_email: The service has no mail server. Share the link.",
      "Omit `send_email`, or ask an operator to set `SMTP_URL`.",
    ],
    WEBHOOK_LIMIT: [
      `webhook: The workspace has reached its limit of ${MAX_WEBHOOKS} webhooks. Delete one first.`,
      "Delete a webhook.",
    ],
    WEBHOOK_DISABLED: ["webhook: The webhook is disabled. Enable it first.", "Enable the webhook, then retry."],
    API_KEY_LIMIT: [
      `e.g. api_key: The workspace has reached its limit of ${MAX_API_KEYS} keys. Revoke one first.`,
      "Revoke a key.",
    ],
    API_KEY_LAST: [
      "e.g. api_key: This is the last active key with full scope. Create another one first.",
      "Create another key with full scope first.",
    ],
    MEMBER_LIMIT: [
      `member: The workspace has reached its limit of ${MAX_MEMBERS} members. Remove one first.`,
      "Remove a member.",
    ],
    MEMBER_LAST_ADMIN: [
      "person: This is the workspace's last admin. Make another member an admin first.",
      "Make another member an admin first.",
    ],
    SAVED_FILTER_LIMIT: [
      `saved_filter: You or the shared filters of the workspace have reached the limit of ${MAX_SAVED_FILTERS}. Delete one first.`,
      "Delete a saved filter.",
    ],
    OPERATOR_REVOKED: ["operator: The operator was revoked and cannot be changed.", "Create another operator."],
    OPERATOR_LAST_OWNER: [
      "operator: The operator is the last owner. Make another operator an owner first.",
      "Make another operator an owner first.",
    ],
    TARIFF_DRAFT_LIMIT: [
      `tariff_draft: The platform has reached its limit of ${MAX_TARIFF_DRAFTS} drafts. Delete one first.`,
      "Delete a draft.",
    ],
    TARIFF_FAULTY: [
      'e.g. base_fee: base_fee must be a decimal string of 0 or more, such as "5.00"; it is "free"',
      "Fix each path in `errors`.",
    ],
    TARIFF_NOT_SCHEDULED: [
      "e.g. version: Version 3 is in force. Only a scheduled version can be cancelled.",
      "Roll back instead.",
    ],
  }),
  ...answered("ResourceExhausted", 422, {
    HOLD_LIMIT: [
      `hold: The workspace has reached its limit of ${MAX_HOLDS} quotes that hold slots. Book one, or wait until one expires.`,
      "Book a quote, or wait.",
    ],
    COURIER_EMAIL_LIMIT: [
      "email: The courier or the workspace has reached its limit of emails. Wait up to an hour, or create a link without send_email and share it.",
      "Wait, or omit `send_email`.",
    ],
    SIMULATION_LIMIT: [
      `simulation: Test mode has reached its limit of ${MAX_SIMULATIONS} running simulations. Wait until some simulations end, advance the test clock, or delete the test data.`,
      "Wait, advance the test clock, or delete test data.",
    ],
  }),
  ...answered("ResourceExhausted", 429, {
    RATE_LIMITED: [
      "e.g. The workspace has used up its write calls. Try again in 1 s.",
      "Retry after the time in `Retry-After`, and space out your calls.",
    ],
  }),
  ...answered("ResourceExhausted", 431, {
    HEADERS_TOO_LARGE: ["The headers are too large.", "Send fewer or shorter headers."],
  }),
  ...answered("Internal", 500, {
    INTERNAL: [
      "The service failed. Report this with the request id.",
      "Retry with the same idempotency key. Report the `request_id`.",
    ],
  }),
  ...answered("Unavailable", 503, {
    UNAVAILABLE: [
      "e.g. The service cannot reach its database. Try again in a moment.",
      "Retry after the time in `Retry-After`.",
    ],
  }),
  ...answered("DeadlineExceeded", 504, {
    DEADLINE_EXCEEDED: [
      "The caller's deadline passed before the response.",
      "Retry with the same idempotency key and a longer deadline.",
    ],
    REQUEST_TOO_SLOW: [
      "The request took longer than the service allows and was stopped. Request less at a time, or try again in a few minutes.",
      "Request less data per call. Wait a few minutes before you retry.",
    ],
  }),
};

/** Defines reasons that share a gRPC code (in Connect's spelling) and an HTTP status. */
function answered<C extends string, const T extends Readonly<Record<string, Texts>>>(
  code: C,
  httpStatus: number,
  texts: T,
) {
  const reasons = Object.entries(texts).map(([reason, [template, remedy]]) => {
    const [, example, subject, text] = /^(e\.g\. )?(?:([a-z_]+): )?(.*)$/.exec(template)!;
    return [reason, { code, httpStatus, isFixed: example === undefined, subject, text, remedy }];
  });
  return Object.fromEntries(reasons) as {
    readonly [R in keyof T]: Answer<C, T[R][0] extends `e.g. ${string}` ? false : true>;
  };
}

type Texts = readonly [message: string, remedy: string];

/** Definition of a reason: its status codes, message and remedy. */
interface Answer<Code extends string, Fixed extends boolean> {
  readonly code: Code;
  readonly httpStatus: number;
  /** Whether the message is always the same. Otherwise `text` is an example. */
  readonly isFixed: Fixed;
  readonly subject?: string;
  readonly text: string;
  readonly remedy: string;
}
