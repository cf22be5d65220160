import type { RateLimitState } from "./rate-limit.ts";

/**
 * Why a call can be refused: a closed set, stable for programs. These are the `reason`s of
 * `google.rpc.ErrorInfo` in the domain `shipments.v1`, and the `code`s of JSON errors.
 */
export type RefusalReason =
  | "REQUEST_MALFORMED"
  | "REQUEST_TIMEOUT"
  | "HEADERS_TOO_LARGE"
  | "BODY_UNREADABLE"
  | "BODY_NOT_JSON"
  | "BODY_TOO_LARGE"
  | "FIELD_INVALID"
  | "CREDENTIAL_REFUSED"
  | "WORKSPACE_SUSPENDED"
  | "ROLE_INSUFFICIENT"
  | "SCOPE_INSUFFICIENT"
  | "CROSS_SITE"
  | "SIGN_IN_REFUSED"
  | "NOT_A_MEMBER"
  | "NOT_AN_OPERATOR"
  | "RATE_LIMITED"
  | "NO_SUCH_METHOD"
  | "METHOD_NOT_ALLOWED"
  | "SHIPMENT_NOT_FOUND"
  | "SHIPMENT_STATE"
  | "CUSTOMER_NOT_FOUND"
  | "CUSTOMER_TAKEN"
  | "ETAG_STALE"
  | "EXTERNAL_REFERENCE_TAKEN"
  | "IDEMPOTENCY_KEY_IN_USE"
  | "IDEMPOTENCY_KEY_REUSED"
  | "PAYMENT_MISMATCH"
  | "PRICE_CHANGED"
  | "ROUTE_NOT_COVERED"
  | "WEIGHT_NOT_SERVED"
  | "PAYMENT_PROVIDER_NOT_CONNECTED"
  | "EVENT_NOT_FOUND"
  | "WEBHOOK_NOT_FOUND"
  | "DELIVERY_NOT_FOUND"
  | "WEBHOOK_LIMIT"
  | "WEBHOOK_DISABLED"
  | "API_KEY_NOT_FOUND"
  | "API_KEY_LIMIT"
  | "API_KEY_LAST"
  | "MEMBER_NOT_FOUND"
  | "MEMBER_LIMIT"
  | "MEMBER_LAST_ADMIN"
  | "SESSION_NOT_FOUND"
  | "SESSION_BOUND"
  | "OPERATOR_NOT_FOUND"
  | "OPERATOR_EMAIL_TAKEN"
  | "OPERATOR_REVOKED"
  | "OPERATOR_LAST_OWNER"
  | "WORKSPACE_NOT_FOUND"
  | "TARIFF_VERSION_NOT_FOUND"
  | "TARIFF_DRAFT_NOT_FOUND"
  | "TARIFF_DRAFT_LIMIT"
  | "TARIFF_FAULTY"
  | "TARIFF_REPLACED"
  | "TARIFF_SCHEDULED"
  | "TARIFF_NOT_SCHEDULED"
  | "UNAVAILABLE"
  | "DEADLINE_EXCEEDED"
  | "INTERNAL";

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
  readonly rateLimit?: RateLimitState;
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
  /** The limit that was reached, when that is the reason. */
  readonly rateLimit: RateLimitState | undefined;

  constructor(violations: readonly [Violation, ...Violation[]], options: RefusalOptions = {}) {
    super(summarize(violations[0].text, violations.length).toWellFormed(), {
      cause: options.cause,
    });
    this.name = "Refusal";
    this.violations = violations.slice(0, MAX_VIOLATIONS).map(wellFormed);
    this.violationCount = violations.length;
    this.reason = violations[0].reason;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.facts = options.facts ?? {};
    this.rateLimit = options.rateLimit;
  }
}

/** A refusal for a single reason. */
export function refuse(
  reason: RefusalReason,
  text: string,
  options: RefusalOptions & { readonly subject?: string } = {},
): Refusal {
  const { subject, ...rest } = options;
  return new Refusal([subject === undefined ? { reason, text } : { reason, subject, text }], rest);
}

/** The refusal of a call that cannot be served now but may be in a moment. */
export function unavailable(text: string, cause?: unknown): Refusal {
  return refuse("UNAVAILABLE", text, { retryAfterSeconds: 1, cause });
}

/** Without halves of surrogate pairs, which a quoted text can have and UTF-8 has not. */
function wellFormed(violation: Violation): Violation {
  const text = violation.text.toWellFormed();
  if (violation.subject === undefined) return { ...violation, text };
  return { ...violation, subject: violation.subject.toWellFormed(), text };
}

/** The message of a refusal: the text of its first violation, and how many more there are. */
export function summarize(firstText: string, violations: number): string {
  return violations === 1 ? firstText : `${firstText} (and ${violations - 1} more errors)`;
}
