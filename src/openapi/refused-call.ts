import { ScalarType, type DescField, type DescMethod, type Registry } from "@bufbuild/protobuf";
import type { FieldRules } from "../../gen/buf/validate/validate_pb.js";
import { MAX_REQUEST_BYTES } from "../domain/limits.ts";
import type { Violation } from "../domain/refusal.ts";
import {
  compileEnum,
  compileScalar,
  decodeTimestamp,
  enumNames,
  integerBounds,
  type Decode,
} from "../json/decode-scalar.ts";
import { audienceOf } from "../pipeline/common-reasons.ts";
import type { Audience } from "../pipeline/call.ts";
import type { Options } from "./options.ts";

/** Body of an operation. A document, such as GeoJSON, is sent unchanged. */
export type BodyKind = "none" | "json" | "document";

export interface Sent {
  readonly readOnly: boolean;
  readonly body: BodyKind;
  /** Fields of the query or JSON body, in declaration order. */
  readonly fields: readonly DescField[];
  readonly pathFields: readonly DescField[];
  readonly isRequired: (field: DescField) => boolean;
}

type FieldViolation = Required<Pick<Violation, "subject" | "text">>;

export interface RefusedCall extends Sent {
  readonly method: DescMethod;
  readonly audience: Audience;
  /** `quote`, `read` or `write`. */
  readonly limitClass: string;
  readonly forCouriers: boolean;
  readonly operatorRole: string;
  readonly maxBytes: number;
  readonly violation: FieldViolation;
}

export function refusedCall(method: DescMethod, sent: Sent, options: Options, registry: Registry): RefusedCall {
  const audience = audienceOf(method);
  const nameOf = (type: string, option: string) =>
    enumNames(registry.getEnum(type)!).get(options<number>(method, option) ?? 0);
  return {
    ...sent,
    method,
    audience,
    limitClass: nameOf("shipments.v1.LimitClass", "shipments.v1.limit_class") ?? (sent.readOnly ? "read" : "write"),
    forCouriers: options<boolean>(method, "shipments.v1.for_couriers") ?? false,
    operatorRole:
      nameOf("shipments.admin.v1.OperatorRole", "shipments.admin.v1.minimum_role") ??
      (sent.readOnly ? "viewer" : "operator"),
    maxBytes: options<number>(method, "shipments.v1.max_request_bytes") ?? MAX_REQUEST_BYTES,
    violation: violationOf(audience, sent, options),
  };
}

/**
 * Returns an example violation. Prefers a missing field, then a field of the wrong type, then an
 * unknown parameter or malformed header.
 */
function violationOf(audience: Audience, sent: Sent, options: Options): FieldViolation {
  const required = sent.fields.find(sent.isRequired);
  if (required !== undefined) {
    const { name } = required;
    return { subject: name, text: `${name} is required.` };
  }
  const violations = [
    ...sent.fields.map((field) => mistypedField(field, sent.body === "json", options)),
    ...sent.pathFields.map((field) => mistypedField(field, false, options)),
  ];
  const mistyped = violations.find((it) => it !== undefined);
  if (mistyped !== undefined) return mistyped;
  if (sent.readOnly || audience === "person") {
    const text = "page_size is not a query parameter of this call, which takes none.";
    return { subject: "page_size", text };
  }
  return {
    subject: "idempotency_key",
    text: "Idempotency-Key must be sent once, with 1 to 255 visible characters.",
  };
}

/** Returns the violation of a field with the wrong type. `undefined` for other kinds of fields. */
function mistypedField(field: DescField, isJson: boolean, options: Options): FieldViolation | undefined {
  const { name } = field;
  if (field.fieldKind === "list") {
    const text = `${name} must be a list.`;
    return isJson ? { subject: name, text } : undefined;
  }
  if (!isJson && field.scalar === ScalarType.STRING) {
    const text = `${name} must be valid Unicode text without NUL characters.`;
    return { subject: name, text };
  }
  const violations: Violation[] = [];
  decoderOf(field, options)?.(isJson ? {} : "?", name, violations, []);
  const [violation] = violations;
  return violation && { subject: name, text: violation.text };
}

function decoderOf(field: DescField, options: Options): Decode | undefined {
  if (field.enum !== undefined) return compileEnum(field.enum);
  if (field.scalar !== undefined) {
    const rules = options<FieldRules>(field, "buf.validate.field");
    return compileScalar(field.scalar, integerBounds(rules));
  }
  return field.message?.typeName === "google.protobuf.Timestamp" ? decodeTimestamp : undefined;
}
