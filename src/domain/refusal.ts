import { REASONS } from "./refusal-reasons.ts";

export type RefusalReason = keyof typeof REASONS;

/** A reason whose message is always the same. */
export type FixedReason = {
  [R in RefusalReason]: (typeof REASONS)[R]["isFixed"] extends true ? R : never;
}[RefusalReason];

/** One error of a request: a message, and the field or subject if any. */
export interface Violation {
  readonly reason: RefusalReason;
  /** Wire name or path of a field (`pickup_lat`), or a subject (`coverage`). Key in `errors`. */
  readonly subject?: string;
  readonly text: string;
}

export interface RefusalOptions {
  readonly retryAfterSeconds?: number;
  readonly facts?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** Maximum number of reported violations. A small request can cause thousands, each with a long message. */
const MAX_VIOLATIONS = 100;

/**
 * A refused call with its violations. The first violation determines the reason. The message is its
 * text and the number of further ones.
 */
export class Refusal extends Error {
  readonly violations: readonly Violation[];
  /** Total number of violations, including unreported ones. */
  readonly violationCount: number;
  readonly reason: RefusalReason;
  /** Seconds after which a retry may succeed. `undefined` if waiting does not help. */
  readonly retryAfterSeconds: number | undefined;
  /** Facts for programs that belong to the reason, such as the new price. */
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

/** Creates a refusal for a single reason. The text is optional if it is always the same. */
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

/** Throws a refusal if there are violations. */
export function refuseAny(violations: readonly Violation[], options?: RefusalOptions): void {
  if (violations.length > 0) throw new Refusal(violations, options);
}

/** Creates the violation of a reason whose message is always the same. */
export function fixedViolation(reason: FixedReason): Violation {
  const { subject, text } = REASONS[reason];
  return subject === undefined ? { reason, text } : { reason, subject, text };
}

/** Creates the refusal of a call that cannot be served now but may succeed soon. */
export function unavailable(
  text: string,
  cause?: unknown,
  options: Pick<RefusalOptions, "facts" | "retryAfterSeconds"> = {},
): Refusal {
  return refuse("UNAVAILABLE", text, { retryAfterSeconds: 1, cause, ...options });
}

/** @throws Refusal ETAG_STALE if an etag is given and is not a current one of the resource */
export function assertEtag(
  of: "shipment" | "customer" | "draft",
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

/** Returns the message of a refusal: the text of its first violation and the number of further ones. */
export function summarize(firstText: string, violations: number): string {
  const more = violations - 1;
  if (more === 0) return firstText;
  return `${firstText} (and ${more} more error${more === 1 ? "" : "s"})`;
}
