import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Violation, Refusal } from "../../domain/refusal.ts";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  PreconditionFailureSchema,
  RetryInfoSchema,
} from "../../../gen/google/rpc/error_details_pb.js";
import { refusalHeaders } from "../../pipeline/refusals/refusal-body.ts";
import { REFUSAL_STATUS } from "../../pipeline/refusals/refusal-status.ts";
import { fitTrailers } from "./fit-trailers.ts";

/** The domain of every `ErrorInfo.reason` this service sends. */
const ERROR_DOMAIN = "shipments.v1";

type Detail = NonNullable<ConstructorParameters<typeof ConnectError>[3]>[number];

/**
 * Says a refusal in the words of gRPC: its code, and `google.rpc` details — `ErrorInfo` always,
 * `BadRequest` for fields, `PreconditionFailure` for subjects, `RetryInfo` where waiting helps.
 *
 * @param told the message and the violations to tell, if not all
 */
export function connectError(
  refusal: Refusal,
  told: Pick<Refusal, "message" | "violations"> = refusal,
): ConnectError {
  const { code } = REFUSAL_STATUS[refusal.reason];
  const details: Detail[] = [
    {
      desc: ErrorInfoSchema,
      value: { reason: refusal.reason, domain: ERROR_DOMAIN, metadata: { ...refusal.facts } },
    },
  ];
  const named = told.violations.filter(hasSubject);
  if (named.length > 0) details.push(describeViolations(code, named));
  if (refusal.retryAfterSeconds !== undefined) {
    const retryDelay = { seconds: BigInt(refusal.retryAfterSeconds) };
    details.push({ desc: RetryInfoSchema, value: { retryDelay } });
  }
  return new ConnectError(told.message, code, refusalHeaders(refusal), details);
}

/** The same for gRPC, where errors travel in trailers: as much as clients take. */
export function grpcError(refusal: Refusal): ConnectError {
  return connectError(refusal, fitTrailers(refusal));
}

type NamedViolation = Violation & { readonly subject: string };

function hasSubject(violation: Violation): violation is NamedViolation {
  return violation.subject !== undefined;
}

function describeViolations(code: Code, named: readonly NamedViolation[]): Detail {
  if (code !== Code.FailedPrecondition) {
    const fieldViolations = named.map((it) => ({ field: it.subject, description: it.text }));
    return { desc: BadRequestSchema, value: create(BadRequestSchema, { fieldViolations }) };
  }
  const violations = named.map((it) => ({
    type: it.reason,
    subject: it.subject,
    description: it.text,
  }));
  return {
    desc: PreconditionFailureSchema,
    value: create(PreconditionFailureSchema, { violations }),
  };
}
