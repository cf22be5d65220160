import { expect } from "vitest";
import { summarize, type RefusalReason } from "../../src/domain/refusal.ts";
import { REASONS } from "../../src/domain/refusal-reasons.ts";
import type { Answer } from "./client.ts";
import { errorBody } from "./endpoints.ts";

/** Returns the `data` of a successful call. */
export async function data(call: Answer | Promise<Answer>): Promise<any> {
  const { code, text, body } = await call;
  expect(code, text).toBeUndefined();
  return body.data;
}

/**
 * Asserts that a call is refused for a reason, with the given messages by subject, or with one
 * message without a subject. Defaults to the reason's fixed message.
 *
 * @param facts machine-readable facts in the refusal
 */
export async function expectRefused(
  call: Answer | Promise<Answer>,
  reason: RefusalReason,
  errors: string | Readonly<Record<string, string>> = fixedErrors(reason),
  facts?: object,
): Promise<Answer> {
  const answer = await call;
  const { status, code, body } = answer;
  const metadata = facts === undefined ? {} : { metadata: facts };
  expect({ status, code, body }).toEqual({
    status: REASONS[reason].httpStatus,
    code: reason,
    body: { ...bodyOf(errors), ...metadata },
  });
  return answer;
}

/** Returns the names of the invalid fields in a refused call. */
export async function invalidFields(call: Answer | Promise<Answer>): Promise<string[]> {
  const { code, body, text } = await call;
  expect(code, text).toBe("FIELD_INVALID");
  return Object.keys(body.errors);
}

function bodyOf(errors: string | Readonly<Record<string, string>>) {
  if (typeof errors === "string") return errorBody(errors);
  const texts = Object.entries(errors).map(([subject, text]) => [subject, [text]] as const);
  return {
    message: summarize(texts[0]![1][0]!, texts.length),
    errors: Object.fromEntries(texts),
  };
}

function fixedErrors(reason: RefusalReason): string | Record<string, string> {
  const { isFixed, subject, text } = REASONS[reason];
  if (!isFixed) throw new Error(`${reason} has no fixed message: pass the expected one`);
  return subject === undefined ? text : { [subject]: text };
}
