import type { Problem } from "../domain/refusal.ts";

/** The error body of the JSON API; it always has both keys. */
export interface ErrorBody {
  readonly message: string;
  readonly errors: Readonly<Record<string, readonly string[]>>;
}

/**
 * Says what was refused: the message, and each problem's text under the field or subject it is
 * about.
 */
export function errorBody(refusal: {
  readonly message: string;
  readonly problems: readonly Problem[];
}): ErrorBody {
  const errors = new Map<string, string[]>();
  for (const { subject, text } of refusal.problems) {
    if (subject === undefined) continue;
    const texts = errors.get(subject);
    if (texts === undefined) errors.set(subject, [text]);
    else texts.push(text);
  }
  return { message: refusal.message, errors: Object.fromEntries(errors) };
}
