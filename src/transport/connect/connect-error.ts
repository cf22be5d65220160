import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Problem, Refusal } from "../../domain/refusal.ts";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  PreconditionFailureSchema,
  RetryInfoSchema,
} from "../../../gen/google/rpc/error_details_pb.js";
import { refusalHeaders } from "../../pipeline/refusal-headers.ts";
import { REFUSAL_STATUS } from "../../pipeline/refusal-status.ts";
import { fittingMessage, fittingViolations } from "./fit-trailers.ts";

/** The domain of every `ErrorInfo.reason` this service sends. */
const ERROR_DOMAIN = "shipments.v1";

type Detail = NonNullable<ConstructorParameters<typeof ConnectError>[3]>[number];

/**
 * Says a refusal in the words of gRPC: its code, and `google.rpc` details — `ErrorInfo` always,
 * `BadRequest` for fields, `PreconditionFailure` for subjects, `RetryInfo` where waiting helps. Has as
 * many of the fields or subjects as fit into what clients take.
 */
export function connectError(refusal: Refusal): ConnectError {
  const { code } = REFUSAL_STATUS[refusal.reason];
  const message = fittingMessage(refusal.message);
  const details: Detail[] = [
    {
      desc: ErrorInfoSchema,
      value: { reason: refusal.reason, domain: ERROR_DOMAIN, metadata: { ...refusal.facts } },
    },
  ];
  const named = refusal.problems.filter(hasSubject);
  if (named.length > 0) details.push(describeProblems(code, message, named));
  if (refusal.retryAfterSeconds !== undefined) {
    const retryDelay = { seconds: BigInt(refusal.retryAfterSeconds) };
    details.push({ desc: RetryInfoSchema, value: { retryDelay } });
  }
  return new ConnectError(message, code, refusalHeaders(refusal), details);
}

type NamedProblem = Problem & { readonly subject: string };

function hasSubject(problem: Problem): problem is NamedProblem {
  return problem.subject !== undefined;
}

function describeProblems(code: Code, message: string, problems: readonly NamedProblem[]): Detail {
  if (code !== Code.FailedPrecondition) {
    const all = problems.map((it) => ({ field: it.subject, description: it.text }));
    const fieldViolations = [...fittingViolations(message, all)];
    return { desc: BadRequestSchema, value: create(BadRequestSchema, { fieldViolations }) };
  }
  const all = problems.map(({ reason, subject, text }) => ({
    type: reason,
    subject,
    description: text,
  }));
  const violations = [...fittingViolations(message, all)];
  return {
    desc: PreconditionFailureSchema,
    value: create(PreconditionFailureSchema, { violations }),
  };
}
