import { REASONS } from "./refusal-reasons.ts";

export type RefusalReason = keyof typeof REASONS;

/** Reasons whose message is always the same. */
export type FixedReason = {
  [R in RefusalReason]: (typeof REASONS)[R]["isFixed"] extends true ? R : never;
}[RefusalReason];

/** An error in a request: a message, and the field or subject if any. */
export interface Violation {
  readonly reason: RefusalReason;
  /** Wire name or path of a field (`pickup_lat`), or a subject (`coverage`). The key in `errors`. */
  readonly subject?: string;
  readonly text: string;
}

export interface RefusalOptions {
  readonly retryAfterSeconds?: number;
  readonly facts?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/**
 * Maximum number of violations that are reported. A small request can cause thousands of violations
 * with long messages.
 */
const MAX_VIOLATIONS = 100;

/**
 * Error for a refused call. The first violation determines the reason and the message, which also contains the number
 * of other violations.
 */
export class Refusal extends Error {
  readonly violations: readonly Violation[];
  /** Total number of violations, including unreported ones. */
  readonly violationCount: number;
  readonly reason: RefusalReason;
  /** Seconds after which a retry may succeed. `undefined` if waiting does not help. */
  readonly retryAfterSeconds: number | undefined;
  /** Machine-readable details, depending on the reason, such as the new price. */
  readonly facts: Readonly<Record<string, string>>;

  /**
   * Creates a refusal.
   *
   * @param violations at least one
   */
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

/** Creates a refusal for a single reason. The text can be omitted if the message is always the same. */
export function refuse(reason: FixedReason, options?: RefusalOptions): Refusal;
export function refuse(
  reason: RefusalReason,
  text: string,
  options?: RefusalOptions & { readonly subject?: string },
): Refusal;
export function refuse(
  reason: RefusalReason,
  textOrOptions?: string | RefusalOptions,
  { subject, ...options }: RefusalOptions & { readonly subject?: string } = {},
): Refusal {
  if (typeof textOrOptions !== "string") return new Refusal([fixedViolation(reason as FixedReason)], textOrOptions);
  const violation = { reason, text: textOrOptions };
  return new Refusal([subject === undefined ? violation : { ...violation, subject }], options);
}

/** Throws a refusal if the list is not empty. */
export function refuseAny(violations: readonly Violation[], options?: RefusalOptions): void {
  if (violations.length > 0) throw new Refusal(violations, options);
}

/** Creates a violation for a reason whose message is always the same. */
export function fixedViolation(reason: FixedReason): Violation {
  const { subject, text } = REASONS[reason];
  return subject === undefined ? { reason, text } : { reason, subject, text };
}

/**
 * Creates a violation for an invalid field.
 *
 * @param problem text that follows the field's name, with its full stop, such as `must be another customer.`
 */
export function fieldViolation(subject: string, problem: string): Violation {
  return { reason: "FIELD_INVALID", subject, text: `${subject} ${problem}` };
}

/** Creates a refusal for one invalid field. See `fieldViolation`. */
export function invalidField(subject: string, problem: string): Refusal {
  return new Refusal([fieldViolation(subject, problem)]);
}

/** Creates an UNAVAILABLE refusal for a call that may succeed soon. */
export function unavailable(
  text: string,
  cause?: unknown,
  options: Pick<RefusalOptions, "facts" | "retryAfterSeconds"> = {},
): Refusal {
  return refuse("UNAVAILABLE", text, { retryAfterSeconds: 1, cause, ...options });
}

/**
 * Checks an etag, if one is given.
 *
 * @throws Refusal ETAG_STALE if the etag is not current
 */
export function assertEtag(
  of: "shipment" | "customer" | "courier" | "draft",
  etag: string | undefined,
  ...current: readonly string[]
): void {
  if (!etag || current.includes(etag)) return;
  const text = `etag is stale because the ${of} was changed. Read it again.`;
  throw refuse("ETAG_STALE", text, { subject: "etag" });
}

/** Replaces lone surrogates, which UTF-8 cannot encode. */
function wellFormed(violation: Violation): Violation {
  const text = violation.text.toWellFormed();
  if (violation.subject === undefined) return { ...violation, text };
  return { ...violation, subject: violation.subject.toWellFormed(), text };
}

/** Returns the message of a refusal: the text of its first violation, and the number of other violations, if any. */
export function summarize(firstText: string, violations: number): string {
  const more = violations - 1;
  if (more === 0) return firstText;
  return `${firstText} (and ${more} more error${more === 1 ? "" : "s"})`;
}
