import {
  ScalarType,
  type DescEnum,
  type DescField,
  type DescMessage,
  type Message,
} from "@bufbuild/protobuf";
import { timestampDate, type Timestamp } from "@bufbuild/protobuf/wkt";
import { enumNames } from "./decode-scalar.ts";

/** A value that JSON.stringify writes as it stands. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

type Encode = (value: unknown) => JsonValue;
type Fields = Record<string, unknown>;

const TIMESTAMP = "google.protobuf.Timestamp";

/**
 * Compiles an encoder to the JSON dialect of `/v1` for one kind of message: wire names, every field
 * present, null for what is unset, enum values in lower case without their prefix, integers
 * as numbers, timestamps in RFC 3339.
 *
 * @throws Error at start-up for a message that the dialect has no form for.
 */
export function compileEncodeJson(schema: DescMessage): (message: Message) => JsonValue {
  const encode = compileMessage(schema, new Map());
  return (message) => encode(message);
}

function compileMessage(schema: DescMessage, known: Map<DescMessage, Encode>): Encode {
  const compiled = known.get(schema);
  if (compiled !== undefined) return compiled;
  if (schema.typeName === TIMESTAMP) return (value) => encodeTimestamp(value as Timestamp);
  if (schema.typeName.startsWith("google.protobuf.")) {
    throw new Error(`${schema.typeName} has no form in the JSON dialect`);
  }
  const steps: { name: string; get: (fields: Fields) => unknown; encode: Encode }[] = [];
  const encode: Encode = (value) => {
    const json: Record<string, JsonValue> = {};
    for (const step of steps) {
      const field = step.get(value as Fields);
      json[step.name] = field === undefined ? null : step.encode(field);
    }
    return json;
  };
  // A message type that contains itself uses this encoder again, so it is known before its steps.
  known.set(schema, encode);
  for (const field of schema.fields) {
    steps.push({ name: field.name, get: getter(field), encode: compileField(field, known) });
  }
  return encode;
}

function getter(field: DescField): (fields: Fields) => unknown {
  const { localName, oneof } = field;
  if (oneof === undefined) return (fields) => fields[localName];
  return (fields) => {
    const chosen = fields[oneof.localName] as { case?: string; value?: unknown };
    return chosen.case === localName ? chosen.value : undefined;
  };
}

function compileField(field: DescField, known: Map<DescMessage, Encode>): Encode {
  switch (field.fieldKind) {
    case "scalar":
      return compileScalar(field.scalar);
    case "enum":
      return compileEnum(field.enum);
    case "message":
      return compileMessage(field.message, known);
    case "list": {
      const encode = compileElement(field, known);
      return (value) => (value as unknown[]).map(encode);
    }
    case "map": {
      const encode = compileElement(field, known);
      return (value) =>
        Object.fromEntries(Object.entries(value as Fields).map(([key, it]) => [key, encode(it)]));
    }
  }
}

function compileElement(
  field: DescField & { fieldKind: "list" | "map" },
  known: Map<DescMessage, Encode>,
): Encode {
  if (field.message !== undefined) return compileMessage(field.message, known);
  if (field.enum !== undefined) return compileEnum(field.enum);
  return compileScalar(field.scalar);
}

function compileScalar(scalar: ScalarType): Encode {
  switch (scalar) {
    case ScalarType.INT64:
    case ScalarType.UINT64:
    case ScalarType.SINT64:
    case ScalarType.FIXED64:
    case ScalarType.SFIXED64:
      return (value) => Number(value);
    case ScalarType.BYTES:
      return (value) => (value as Uint8Array).toBase64();
    default:
      return (value) => value as JsonValue;
  }
}

function compileEnum(schema: DescEnum): Encode {
  const names = enumNames(schema);
  return (value) => names.get(value as number) ?? null;
}

function encodeTimestamp(timestamp: Timestamp): string {
  return timestampDate(timestamp).toISOString();
}
