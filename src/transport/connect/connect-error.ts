import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  PreconditionFailureSchema,
  RetryInfoSchema,
} from "../../../gen/google/rpc/error_details_pb.js";
import { refusalHeaders } from "../../pipeline/refusals/refusal-body.ts";
import { REASONS } from "../../domain/refusal-reasons.ts";
import { summarize, type Violation, type Refusal } from "../../domain/refusal.ts";

const ERROR_DOMAIN = "shipments.v1";

type Detail = NonNullable<ConstructorParameters<typeof ConnectError>[3]>[number];

/**
 * Converts a refusal to a gRPC error with its code and `google.rpc` details: always `ErrorInfo`,
 * `BadRequest` for fields, `PreconditionFailure` for subjects, and `RetryInfo` if waiting helps.
 */
export function connectError(
  refusal: Refusal,
  detail: Pick<Refusal, "message" | "violations"> = refusal,
): ConnectError {
  const code = Code[REASONS[refusal.reason].code];
  const details: Detail[] = [
    {
      desc: ErrorInfoSchema,
      value: { reason: refusal.reason, domain: ERROR_DOMAIN, metadata: { ...refusal.facts } },
    },
  ];
  const named = detail.violations.filter(hasSubject);
  if (named.length > 0) details.push(describeViolations(code, named));
  if (refusal.retryAfterSeconds !== undefined) {
    const retryDelay = { seconds: BigInt(refusal.retryAfterSeconds) };
    details.push({ desc: RetryInfoSchema, value: { retryDelay } });
  }
  return new ConnectError(detail.message, code, refusalHeaders(refusal), details);
}

/** Like `connectError`, but truncated to a trailer size that gRPC clients accept. */
export function grpcError(refusal: Refusal): ConnectError {
  return connectError(refusal, truncateGrpcError(refusal));
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

/**
 * Maximum size of a refusal in trailers, in bytes as sent. Java and gRPC C-core clients accept 8 KiB of headers or
 * trailers, counted uncompressed with 32 additional bytes per header (RFC 9113, 6.5.2). Other headers in the same block
 * take about a seventh of this limit.
 */
const MAX_REFUSAL_BYTES = 7_000;
/** Maximum size of `grpc-message`, in bytes. */
const MAX_MESSAGE_BYTES = 1_500;
/**
 * Size of the error details without violations and facts, in bytes: three type URLs and the other fields of
 * `ErrorInfo`.
 */
const OTHER_DETAIL_BYTES = 300;
/** Framing overhead of a violation, in bytes: a tag and a length for the violation and for each text. */
const FRAME_BYTES = 12;
const ELLIPSIS = "…";

/** Returns the part of a refusal that fits in trailers: the message and the first violations. */
function truncateGrpcError(refusal: Refusal): Pick<Refusal, "message" | "violations"> {
  const [first] = refusal.violations;
  const message = summarize(truncateMessage(first!.text), refusal.violationCount);
  // The details are base64, four bytes for three, and also contain the message.
  const detailBytes = ((MAX_REFUSAL_BYTES - encodedBytes(message)) * 3) / 4;
  const otherBytes = OTHER_DETAIL_BYTES + factBytes(refusal.facts);
  let leftBytes = detailBytes - Buffer.byteLength(message) - otherBytes;
  const violations: Violation[] = [];
  for (const violation of refusal.violations) {
    const { reason, subject = "", text } = violation;
    leftBytes -= Buffer.byteLength(reason + subject + text) + FRAME_BYTES;
    if (leftBytes < 0) break;
    violations.push(violation);
  }
  return { message, violations };
}

function factBytes(facts: Refusal["facts"]): number {
  return Object.entries(facts).reduce(
    (bytes, [name, value]) => bytes + Buffer.byteLength(name + value) + FRAME_BYTES,
    0,
  );
}

export function truncateMessage(text: string): string {
  const message = text.toWellFormed();
  if (encodedBytes(message) <= MAX_MESSAGE_BYTES) return message;
  let bytes = encodedBytes(ELLIPSIS);
  let end = 0;
  for (const character of message) {
    bytes += encodedBytes(character);
    if (bytes > MAX_MESSAGE_BYTES) break;
    end += character.length;
  }
  return message.slice(0, end) + ELLIPSIS;
}

/** Returns the length of a text in bytes when percent-encoded for `grpc-message`. */
function encodedBytes(text: string): number {
  return encodeURIComponent(text).length;
}
