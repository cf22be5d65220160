import {
  MAX_MEMBERS,
  MAX_SAVED_FILTERS,
  MAX_SIMULATIONS,
  MAX_TARIFF_DRAFTS,
  MAX_WEBHOOKS,
} from "./limits.ts";

/**
 * Why a call can be refused: a closed set, stable for programs. These are the `reason`s of
 * `google.rpc.ErrorInfo` in the domain `shipments.v1`, and the `code`s of JSON errors. With the words of
 * those that are always worded alike, after the subject they are about, if any; null for the others.
 */
const REASONS = {
  REQUEST_MALFORMED: null,
  REQUEST_TIMEOUT: "The request took too long to arrive.",
  HEADERS_TOO_LARGE: "The headers are too large.",
  BODY_UNREADABLE: null,
  BODY_NOT_JSON: null,
  BODY_TOO_LARGE: null,
  FIELD_INVALID: null,
  CREDENTIAL_REFUSED: null,
  WORKSPACE_SUSPENDED:
    "The workspace is suspended: its calls are refused until the platform resumes it.",
  ROLE_INSUFFICIENT: null,
  SCOPE_INSUFFICIENT: null,
  LIVE_MODE_ONLY:
    "This works in live mode alone; use a live key, which begins with shp_ but not with shp_test_.",
  TEST_MODE_ONLY: "This works in test mode alone, as with a key that begins with shp_test_.",
  WORKSPACE_IS_TEST: null,
  CROSS_SITE: "Calls with a session are taken from pages of this site alone.",
  SIGN_IN_REFUSED: null,
  NOT_A_MEMBER: "You are no member of a workspace with this id.",
  NOT_AN_OPERATOR: "Your account is not that of an operator of the platform.",
  RATE_LIMITED: null,
  NO_SUCH_METHOD: null,
  METHOD_NOT_ALLOWED: null,
  SHIPMENT_NOT_FOUND: "There is no such shipment.",
  SHIPMENT_STATE: null,
  CUSTOMER_NOT_FOUND: "There is no such customer.",
  CUSTOMER_TAKEN: ["customer", "Another customer of the workspace has this name and email."],
  CUSTOMER_NOT_MERGEABLE: null,
  ETAG_STALE: null,
  EXTERNAL_REFERENCE_TAKEN: null,
  IDEMPOTENCY_KEY_IN_USE: [
    "idempotency_key",
    "A call with this idempotency key is still running; try again in a moment.",
  ],
  IDEMPOTENCY_KEY_REUSED: [
    "idempotency_key",
    "This idempotency key came with another request before; use a new key for every request.",
  ],
  PAYMENT_MISMATCH: null,
  PRICE_CHANGED: null,
  QUOTE_UNKNOWN: [
    "quote_id",
    "quote_id is no quote of the workspace, or one of days ago; ask for a new quote.",
  ],
  QUOTE_USED: null,
  QUOTE_EXPIRED: null,
  QUOTE_VOID: null,
  QUOTE_MISMATCH: null,
  ROUTE_NOT_COVERED: null,
  WEIGHT_NOT_SERVED: null,
  WINDOW_INVALID: null,
  OUTSIDE_HOURS: null,
  CUT_OFF_PASSED: null,
  TOO_SOON: null,
  TOO_FAR_AHEAD: null,
  PAYMENT_PROVIDER_NOT_CONNECTED: [
    "payment_provider",
    "The workspace has no payment provider connected; connect one before booking.",
  ],
  PAYMENT_PROVIDER_NOT_READY: [
    "payment_provider",
    "The payment provider takes no payments for the workspace now; look at its connection.",
  ],
  PAYMENT_PROVIDER_NOT_CONFIGURED: null,
  PAYMENT_PROVIDER_REFUSED: null,
  PAYMENT_NOT_CONFIRMED: [
    "payment",
    "The payment provider does not confirm it; what it says is in the shipment's payment_details.",
  ],
  PAYMENT_DISPUTED: [
    "payment",
    "The payment is disputed; nothing is refunded before that is decided.",
  ],
  CHECKOUT_UNAVAILABLE: [
    "payment_provider",
    "The payment provider has no page to pay at; record the payment instead.",
  ],
  CHECKOUT_AMOUNT: null,
  PAYMENTS_OPEN: [
    "payment_provider",
    "Payments or refunds of the workspace are open at the payment provider; wait for their end.",
  ],
  SIMULATION_LIMIT: [
    "simulation",
    `${MAX_SIMULATIONS} simulations are under way in test mode, and no more fit: wait until some end, move the test clock on, or delete the test data.`,
  ],
  GEOCODER_NOT_CONFIGURED: [
    "geocoder",
    "The platform has no geocoder: an operator of it sets GEOCODER and GEOCODER_URL to have one.",
  ],
  EVENT_NOT_FOUND: "There is no such event.",
  WEBHOOK_NOT_FOUND: "There is no such webhook.",
  DELIVERY_NOT_FOUND: "There is no such delivery.",
  WEBHOOK_LIMIT: ["webhook", `The workspace has ${MAX_WEBHOOKS} webhooks, and no more fit.`],
  WEBHOOK_DISABLED: ["webhook", "The webhook is disabled; enable it first."],
  API_KEY_NOT_FOUND: "There is no such key.",
  API_KEY_LIMIT: null,
  API_KEY_LAST: null,
  MEMBER_NOT_FOUND: "The workspace has no member with this id.",
  MEMBER_LIMIT: ["member", `The workspace has ${MAX_MEMBERS} members, and no more fit.`],
  MEMBER_LAST_ADMIN: [
    "person",
    "This is the workspace's last admin; make somebody else an admin first.",
  ],
  SESSION_NOT_FOUND: "You have no session with this id.",
  SAVED_FILTER_NOT_FOUND: "You have saved no filter with this id in the workspace.",
  SAVED_FILTER_LIMIT: [
    "saved_filter",
    `You have saved ${MAX_SAVED_FILTERS} filters in the workspace, and no more fit.`,
  ],
  SAVED_FILTER_NAME_TAKEN: ["name", "You have saved another filter under this name."],
  SESSION_BOUND: "This session is for one workspace alone, and others know you by this name too.",
  OPERATOR_NOT_FOUND: "There is no such operator.",
  OPERATOR_EMAIL_TAKEN: ["email", "Another operator has this email."],
  OPERATOR_REVOKED: ["operator", "The operator was revoked, and cannot be changed."],
  OPERATOR_LAST_OWNER: ["operator", "The operator is the last owner: make another one first."],
  WORKSPACE_NOT_FOUND: null,
  TARIFF_VERSION_NOT_FOUND: null,
  TARIFF_DRAFT_NOT_FOUND: "There is no such draft.",
  TARIFF_DRAFT_LIMIT: [
    "tariff_draft",
    `There are ${MAX_TARIFF_DRAFTS} drafts, and no more fit; delete one.`,
  ],
  TARIFF_FAULTY: null,
  TARIFF_REPLACED: null,
  TARIFF_SCHEDULED: null,
  TARIFF_NOT_SCHEDULED: null,
  UNAVAILABLE: null,
  DEADLINE_EXCEEDED: "The caller's deadline passed before the answer.",
  INTERNAL: "The service failed; report this with the request id.",
} as const satisfies Readonly<Record<string, Words | null>>;

type Words = string | readonly [subject: string, text: string];

/** Why a call can be refused. */
export type RefusalReason = keyof typeof REASONS;

/** A reason that is always worded alike. */
export type FixedReason = {
  [R in RefusalReason]: (typeof REASONS)[R] extends null ? never : R;
}[RefusalReason];

/**
 * One thing that is wrong, in words for people, and the field or subject it is about, where there
 * is one.
 */
export interface Violation {
  readonly reason: RefusalReason;
  /**
   * A field's wire name or path (`pickup_lat`), or a subject (`coverage`); the key under `errors`.
   */
  readonly subject?: string;
  readonly text: string;
}

/** What may go with a refusal. */
export interface RefusalOptions {
  readonly retryAfterSeconds?: number;
  readonly facts?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** How many violations a refusal tells: a small request can have thousands, each with a long text. */
const MAX_VIOLATIONS = 100;

/**
 * A call that is refused, with everything that is wrong, as far as that is not too much. The first
 * violation gives the reason; the message is its text, and how many more there are.
 */
export class Refusal extends Error {
  readonly violations: readonly Violation[];
  /** How many violations there are, with those that are not told. */
  readonly violationCount: number;
  readonly reason: RefusalReason;
  /** After how many whole seconds trying again may help; undefined where waiting does not help. */
  readonly retryAfterSeconds: number | undefined;
  /** Facts for programs that go with the reason, such as the new price. */
  readonly facts: Readonly<Record<string, string>>;

  /** @param violations at least one */
  constructor(violations: readonly Violation[], options: RefusalOptions = {}) {
    const [first] = violations;
    super(summarize(first!.text, violations.length).toWellFormed(), { cause: options.cause });
    this.name = "Refusal";
    this.violations = violations.slice(0, MAX_VIOLATIONS).map(wellFormed);
    this.violationCount = violations.length;
    this.reason = first!.reason;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.facts = options.facts ?? {};
  }
}

/** A refusal for a single reason; the text can be left out where it is always the same. */
export function refuse(reason: FixedReason, options?: RefusalOptions): Refusal;
export function refuse(
  reason: RefusalReason,
  text: string,
  options?: RefusalOptions & { readonly subject?: string },
): Refusal;
export function refuse(
  reason: RefusalReason,
  given?: string | RefusalOptions,
  { subject, ...options }: RefusalOptions & { readonly subject?: string } = {},
): Refusal {
  if (typeof given !== "string") return new Refusal([fixedViolation(reason as FixedReason)], given);
  const violation = { reason, text: given };
  return new Refusal([subject === undefined ? violation : { ...violation, subject }], options);
}

/** Refuses a call if there is anything wrong with it. */
export function refuseAny(violations: readonly Violation[], options?: RefusalOptions): void {
  if (violations.length > 0) throw new Refusal(violations, options);
}

/** Whether a reason is always worded alike. */
export function isFixed(reason: RefusalReason): reason is FixedReason {
  return REASONS[reason] !== null;
}

/** What a refusal for a reason says that is always worded alike. */
export function fixedViolation(reason: FixedReason): Violation {
  const words: Words = REASONS[reason];
  if (typeof words === "string") return { reason, text: words };
  const [subject, text] = words;
  return { reason, subject, text };
}

/** The refusal of a call that cannot be served now but may be in a moment. */
export function unavailable(
  text: string,
  cause?: unknown,
  options: Pick<RefusalOptions, "facts" | "retryAfterSeconds"> = {},
): Refusal {
  return refuse("UNAVAILABLE", text, { retryAfterSeconds: 1, cause, ...options });
}

/** Replaces lone surrogates, which UTF-8 cannot encode. */
function wellFormed(violation: Violation): Violation {
  const text = violation.text.toWellFormed();
  if (violation.subject === undefined) return { ...violation, text };
  return { ...violation, subject: violation.subject.toWellFormed(), text };
}

/** The message of a refusal: the text of its first violation, and how many more there are. */
export function summarize(firstText: string, violations: number): string {
  const more = violations - 1;
  if (more === 0) return firstText;
  return `${firstText} (and ${more} more error${more === 1 ? "" : "s"})`;
}
