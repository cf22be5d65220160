import type { DescMessage, Message } from "@bufbuild/protobuf";
import { pathToString } from "@bufbuild/protobuf/reflect";
import { createValidator, type Violation } from "@bufbuild/protovalidate";
import { Refusal, type Problem } from "../domain/refusal.ts";
import { compileTidyRequest } from "./tidy-request.ts";

/**
 * Tidies a request and holds it against the rules of its descriptor. `faults` are problems that
 * were found before there was a message (a field of the wrong JSON type); all are reported
 * together, in the order of the fields, and a field that is already at fault is not also called
 * missing.
 *
 * @throws Refusal FIELD_INVALID
 */
export type ValidateRequest = (request: Message, faults: readonly Problem[]) => void;

const validator = createValidator();

/** Prepares the check of one kind of request. */
export function compileValidateRequest(schema: DescMessage): ValidateRequest {
  const tidy = compileTidyRequest(schema);
  const order = new Map(schema.fields.map((field, i) => [field.name, i]));
  const placeOf = (problem: Problem) => order.get(firstName(problem.subject ?? "")) ?? -1;
  return (request, faults) => {
    const textFaults = tidy(request);
    const result = validator.validate(schema, request);
    if (result.kind === "error") throw result.error;
    const violations = result.kind === "invalid" ? result.violations : [];
    if (violations.length + faults.length + textFaults.length === 0) return;
    const found = [...faults, ...textFaults];
    const problems = [...found, ...unlessFound(violations.map(describe), found)];
    problems.sort((a, b) => placeOf(a) - placeOf(b));
    throw new Refusal(problems as [Problem, ...Problem[]]);
  };
}

function unlessFound(problems: readonly Problem[], found: readonly Problem[]): readonly Problem[] {
  const faulty = new Set(found.map((problem) => problem.subject));
  return problems.filter((problem) => !faulty.has(problem.subject));
}

function describe(violation: Violation): Problem {
  const path = pathToString(violation.field);
  const text =
    violation.ruleId === "required" ? `${path} is required.` : `${path} ${violation.message}.`;
  return { reason: "FIELD_INVALID", subject: path, text };
}

function firstName(path: string): string {
  return /^[^.[]*/.exec(path)?.[0] ?? path;
}
