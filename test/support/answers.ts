import { expect } from "vitest";
import { summarize, type RefusalReason } from "../../src/domain/refusal.ts";
import { REASONS } from "../../src/domain/refusal-reasons.ts";
import { errorBody, type Answer } from "./endpoints.ts";

/** The `data` that a call answers with, which is not refused. */
export async function data(call: Answer | Promise<Answer>): Promise<any> {
  const { code, text, body } = await call;
  expect(code, text).toBeUndefined();
  return body.data;
}

/**
 * Checks that a call is refused for a reason, with these texts by the subjects that they are about, or one text about
 * none; with the reason's own where it is always worded alike.
 *
 * @param facts what goes with the refusal for programs
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

/** The fields that are wrong with a call, as it is refused for them. */
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
  if (!isFixed) throw new Error(`${reason} is not always worded alike`);
  return subject === undefined ? text : { [subject]: text };
}
