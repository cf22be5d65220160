import { create, ScalarType, type DescEnum } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import type { FieldRules } from "../../gen/buf/validate/validate_pb.js";
import { fieldViolation, type Violation } from "../domain/refusal.ts";

/**
 * Decodes one JSON value, which is never null. Returns undefined and reports a violation if the value is invalid.
 *
 * @param unknown receives the paths of unknown fields
 */
export type Decode = (json: unknown, path: string, violations: Violation[], unknown: string[]) => unknown;

/** Minimum and maximum of an integer field according to its rules. `undefined` if only the type limits the value. */
interface IntegerBounds {
  readonly least: number | undefined;
  readonly most: number | undefined;
}

/**
 * Returns the bounds that the rules of a field declare. Returns `undefined` if the field is not an
 * integer or has no rules.
 */
export function integerBounds(rules: Pick<FieldRules, "type"> | undefined): IntegerBounds | undefined {
  if (rules?.type.case !== "int32" && rules?.type.case !== "int64") return undefined;
  const { lessThan, greaterThan } = rules.type.value;
  return {
    least: greaterThan.case === "gte" ? Number(greaterThan.value) : undefined,
    most: lessThan.case === "lte" ? Number(lessThan.value) : undefined,
  };
}

/** @param bounds range that the error for a wrong JSON type names. Validation enforces the range */
export function compileScalar(
  scalar: ScalarType,
  { least, most }: IntegerBounds = { least: undefined, most: undefined },
): Decode {
  const integer = (min: number, max: number, convert: (value: number) => number | bigint) =>
    decodeInteger(min, max, convert, `${least ?? min} to ${most ?? max}`);
  switch (scalar) {
    case ScalarType.DOUBLE:
      return decodeNumber;
    case ScalarType.STRING:
      return decodeString;
    case ScalarType.BOOL:
      return decodeBoolean;
    case ScalarType.BYTES:
      return decodeBytes;
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32:
      return integer(-(2 ** 31), 2 ** 31 - 1, Number);
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return integer(0, 2 ** 32 - 1, Number);
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return integer(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, BigInt);
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return integer(0, Number.MAX_SAFE_INTEGER, BigInt);
    default:
      throw new Error(`the scalar type ${ScalarType[scalar]} has no form in the JSON dialect`);
  }
}

function decodeNumber(json: unknown, path: string, violations: Violation[]): unknown {
  if (typeof json !== "number") return addViolation(violations, path, "must be a number");
  if (Number.isFinite(json)) return json;
  return addViolation(violations, path, "is too large. Its magnitude must be below 1.8e308");
}

function decodeString(json: unknown, path: string, violations: Violation[]): unknown {
  return typeof json === "string" ? json : addViolation(violations, path, "must be a string");
}

function decodeBoolean(json: unknown, path: string, violations: Violation[]): unknown {
  return typeof json === "boolean" ? json : addViolation(violations, path, "must be true or false");
}

function decodeBytes(json: unknown, path: string, violations: Violation[]): unknown {
  try {
    return Uint8Array.fromBase64(json as string);
  } catch {
    return addViolation(violations, path, "must be a base64 string");
  }
}

/**
 * Compiles the decoder of an integer. JSON integers beyond 2^53 are refused, because parsing has
 * changed their digits.
 */
function decodeInteger(
  least: number,
  most: number,
  convert: (value: number) => number | bigint,
  range: string,
): Decode {
  return (json, path, violations) => {
    if (Number.isInteger(json) && (json as number) >= least && (json as number) <= most) {
      return convert(json as number);
    }
    return addViolation(violations, path, `must be a whole number from ${range}`);
  };
}

/** Matches a timestamp as in RFC 3339, section 5.6. */
const RFC_3339 =
  /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])[Tt]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d{1,9})?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

export function decodeTimestamp(json: unknown, path: string, violations: Violation[]): unknown {
  if (typeof json !== "string" || !RFC_3339.test(json)) {
    return addViolation(violations, path, `must be ${TIMESTAMP_FORM}${plusHint(json)}`);
  }
  if (!isInCalendar(json)) {
    const text = `contains a date that does not exist: ${json.slice(0, 10)}`;
    return addViolation(violations, path, text);
  }
  const seconds = Math.floor(Date.parse(json) / 1_000);
  if (!Number.isNaN(seconds)) return create(TimestampSchema, { seconds: BigInt(seconds), nanos: nanosOf(json) });
  return addViolation(violations, path, `must be ${TIMESTAMP_FORM}`);
}

/** Returns the fraction of a timestamp, because JavaScript drops what follows the milliseconds. */
function nanosOf(timestamp: string): number {
  const [, digits = ""] = /\.(\d+)/.exec(timestamp) ?? [];
  return Number(digits.padEnd(9, "0"));
}

const TIMESTAMP_FORM = "an RFC 3339 timestamp such as 2026-01-31T09:30:00Z";

/** Returns a hint for a timestamp whose offset has lost its plus sign, because a plus in a query means a space. */
function plusHint(json: unknown): string {
  if (typeof json !== "string" || !RFC_3339.test(json.replace(/ (?=\d\d:\d\d$)/, "+"))) return "";
  return ". Its offset has a space instead of a plus sign. In a query, write + as %2B";
}

/** Whether the day exists in its month. JavaScript parses 30 February as 2 March. */
function isInCalendar(timestamp: string): boolean {
  const [year, month, day] = timestamp.slice(0, 10).split("-").map(Number);
  return (day as number) <= new Date(Date.UTC(year as number, month as number, 0)).getUTCDate();
}

export function compileEnum(schema: DescEnum): Decode {
  const numbers = enumNumbers(schema);
  const names = [...numbers.keys()].join(", ");
  return (json, path, violations) =>
    numbers.get(json as string) ?? addViolation(violations, path, `must be one of ${names}`);
}

/** Reports an invalid field. `text` follows the name of the field, for example "must be a list". */
export function addViolation(violations: Violation[], path: string, text: string): undefined {
  violations.push(fieldViolation(path, `${text}.`));
}

/**
 * Returns the names of an enum's values in the JSON dialect by number: lower case, without the
 * common prefix (`SHIPMENT_STATUS_AWAITING_PICKUP` is `awaiting_pickup`). The unspecified value has
 * no name, because it means absence.
 */
export function enumNames(schema: DescEnum): ReadonlyMap<number, string> {
  const prefix = schema.sharedPrefix?.length ?? 0;
  const named = schema.values.filter((value) => value.number !== 0);
  return new Map(named.map((value) => [value.number, value.name.slice(prefix).toLowerCase()]));
}

/** Returns the numbers of an enum's values by their names in the JSON dialect. */
export function enumNumbers(schema: DescEnum): ReadonlyMap<string, number> {
  return new Map([...enumNames(schema)].map(([number, name]) => [name, number]));
}
