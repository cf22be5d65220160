import {
  create,
  ScalarType,
  type DescEnum,
  type DescField,
  type DescMessage,
  type Message,
} from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Problem } from "../domain/refusal.ts";
import { enumNames } from "./enum-names.ts";

/** Makes a request out of a JSON object, and says which fields could not be read. */
export type DecodeJson = (json: object) => { request: Message; faults: Problem[] };

/** Reads one JSON value; gives undefined and reports a fault when it cannot. Never sees null. */
type Decode = (json: unknown, path: string, faults: Problem[]) => unknown;

const TIMESTAMP = "google.protobuf.Timestamp";
/** RFC 3339, section 5.6. */
const RFC_3339 =
  /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])[Tt]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d{1,9})?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

/**
 * Compiles the way into the JSON dialect of `/v1` for one kind of request: wire names, unknown
 * fields ignored, null the same as absent, and a fault for each field of the wrong JSON type.
 * Ranges are not its business.
 *
 * @throws Error at start-up for a message that the dialect has no form for.
 */
export function compileDecodeJson(schema: DescMessage): DecodeJson {
  const decode = compileMessage(schema, new Map());
  return (json) => {
    const faults: Problem[] = [];
    const request = decode(json, "", faults) as Message;
    return { request, faults };
  };
}

function compileMessage(schema: DescMessage, known: Map<DescMessage, Decode>): Decode {
  const compiled = known.get(schema);
  if (compiled !== undefined) return compiled;
  if (schema.typeName === TIMESTAMP) return decodeTimestamp;
  if (schema.typeName.startsWith("google.protobuf.")) {
    throw new Error(`${schema.typeName} has no form in the JSON dialect`);
  }
  const steps: { name: string; set: Set; decode: Decode }[] = [];
  const decodeMessage: Decode = (json, path, faults) => {
    if (!isObject(json)) return fault(faults, path, "must be an object");
    const message = create(schema) as unknown as Record<string, unknown>;
    for (const { name, set, decode } of steps) {
      const value = Object.hasOwn(json, name) ? json[name] : undefined;
      if (value === undefined || value === null) continue;
      const at = path === "" ? name : `${path}.${name}`;
      const decoded = decode(value, at, faults);
      if (decoded !== undefined) set(message, decoded, at, faults);
    }
    return message;
  };
  known.set(schema, decodeMessage);
  for (const field of schema.fields) {
    steps.push({ name: field.name, set: setter(field), decode: compileField(field, known) });
  }
  return decodeMessage;
}

type Set = (
  message: Record<string, unknown>,
  value: unknown,
  path: string,
  faults: Problem[],
) => void;

function setter(field: DescField): Set {
  const { localName, oneof } = field;
  if (oneof === undefined) return (message, value) => (message[localName] = value);
  return (message, value, path, faults) => {
    const chosen = message[oneof.localName] as { case?: string };
    if (chosen.case !== undefined) {
      fault(faults, path, `cannot be given together with another of ${oneof.name}`);
      return;
    }
    message[oneof.localName] = { case: localName, value };
  };
}

function compileField(field: DescField, known: Map<DescMessage, Decode>): Decode {
  switch (field.fieldKind) {
    case "scalar":
      return compileScalar(field.scalar);
    case "enum":
      return compileEnum(field.enum);
    case "message":
      return compileMessage(field.message, known);
    case "list":
      return decodeList(compileElement(field, known), placeholderOf(field));
    case "map":
      if (field.mapKey !== ScalarType.STRING) {
        throw new Error(`${field.toString()} has keys that are no strings`);
      }
      return decodeMap(compileElement(field, known));
  }
}

function compileElement(
  field: DescField & { fieldKind: "list" | "map" },
  known: Map<DescMessage, Decode>,
): Decode {
  if (field.message !== undefined) return compileMessage(field.message, known);
  if (field.enum !== undefined) return compileEnum(field.enum);
  return compileScalar(field.scalar);
}

/**
 * What stands in for an item that cannot be read, so that those after it keep their places: an
 * empty message. Other items are left out, since their fault refuses the whole request.
 */
function placeholderOf(field: DescField & { fieldKind: "list" }): () => Message[] {
  const { message } = field;
  return message === undefined ? () => [] : () => [create(message)];
}

function decodeList(decode: Decode, placeholder: () => unknown[]): Decode {
  return (json, path, faults) => {
    if (!Array.isArray(json)) return fault(faults, path, "must be a list");
    return json.flatMap((item: unknown, i) => {
      const decoded =
        item === null
          ? fault(faults, `${path}[${i}]`, "must not be null")
          : decode(item, `${path}[${i}]`, faults);
      return decoded === undefined ? placeholder() : [decoded];
    });
  };
}

function decodeMap(decode: Decode): Decode {
  return (json, path, faults) => {
    if (!isObject(json)) return fault(faults, path, "must be an object");
    const entries = Object.entries(json).flatMap(([key, value]) => {
      const at = `${path}[${JSON.stringify(key)}]`;
      const decoded = value === null ? undefined : decode(value, at, faults);
      return decoded === undefined ? [] : [[key, decoded] as const];
    });
    return Object.fromEntries(entries);
  };
}

function compileScalar(scalar: ScalarType): Decode {
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
      return decodeInteger(-(2 ** 31), 2 ** 31 - 1, Number);
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return decodeInteger(0, 2 ** 32 - 1, Number);
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return decodeInteger(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, BigInt);
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return decodeInteger(0, Number.MAX_SAFE_INTEGER, BigInt);
    default:
      throw new Error(`the scalar type ${ScalarType[scalar]} has no form in the JSON dialect`);
  }
}

function decodeNumber(json: unknown, path: string, faults: Problem[]): unknown {
  if (typeof json === "number" && Number.isFinite(json)) return json;
  return fault(faults, path, "must be a number");
}

function decodeString(json: unknown, path: string, faults: Problem[]): unknown {
  return typeof json === "string" ? json : fault(faults, path, "must be a string");
}

function decodeBoolean(json: unknown, path: string, faults: Problem[]): unknown {
  return typeof json === "boolean" ? json : fault(faults, path, "must be true or false");
}

function decodeBytes(json: unknown, path: string, faults: Problem[]): unknown {
  try {
    return Uint8Array.fromBase64(json as string);
  } catch {
    return fault(faults, path, "must be a base64 string");
  }
}

/** JSON integers beyond 2^53 have already lost digits when they are parsed, so they are refused. */
function decodeInteger(
  least: number,
  most: number,
  convert: (value: number) => number | bigint,
): Decode {
  return (json, path, faults) => {
    if (Number.isInteger(json) && (json as number) >= least && (json as number) <= most) {
      return convert(json as number);
    }
    return fault(faults, path, `must be a whole number from ${least} to ${most}`);
  };
}

function decodeTimestamp(json: unknown, path: string, faults: Problem[]): unknown {
  const date = typeof json === "string" && RFC_3339.test(json) ? new Date(json) : undefined;
  if (date === undefined || Number.isNaN(date.getTime()) || !isInCalendar(json as string)) {
    return fault(faults, path, "must be an RFC 3339 timestamp such as 2026-01-31T09:30:00Z");
  }
  return timestampFromDate(date);
}

/** Whether the month has the day: JavaScript takes 30 February for 2 March. */
function isInCalendar(timestamp: string): boolean {
  const [year, month, day] = timestamp.slice(0, 10).split("-").map(Number);
  return (day as number) <= new Date(Date.UTC(year as number, month as number, 0)).getUTCDate();
}

function compileEnum(schema: DescEnum): Decode {
  const numbers = new Map([...enumNames(schema)].map(([number, name]) => [name, number]));
  const names = [...numbers.keys()].join(", ");
  return (json, path, faults) =>
    numbers.get(json as string) ?? fault(faults, path, `must be one of ${names}`);
}

function isObject(json: unknown): json is Record<string, unknown> {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

function fault(faults: Problem[], path: string, text: string): undefined {
  faults.push({ reason: "FIELD_INVALID", subject: path, text: `${path} ${text}.` });
}
