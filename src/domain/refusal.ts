import { REASONS } from "./refusal-reasons.ts";

export type RefusalReason = keyof typeof REASONS;

/** A reason that is always worded alike. */
export type FixedReason = {
  [R in RefusalReason]: (typeof REASONS)[R]["isFixed"] extends true ? R : never;
}[RefusalReason];

/** One thing that is wrong, in words for people, and the field or subject it is about, where there is one. */
export interface Violation {
  readonly reason: RefusalReason;
  /** A field's wire name or path (`pickup_lat`), or a subject (`coverage`); the key under `errors`. */
  readonly subject?: string;
  readonly text: string;
}

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

/** What a refusal for a reason says that is always worded alike. */
export function fixedViolation(reason: FixedReason): Violation {
  const { subject, text } = REASONS[reason];
  return subject === undefined ? { reason, text } : { reason, subject, text };
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
