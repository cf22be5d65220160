import {
  create,
  getOption,
  hasOption,
  ScalarType,
  type DescField,
  type DescMessage,
  type Message,
} from "@bufbuild/protobuf";
import { mapKey, shownName } from "../domain/clip.ts";
import type { Violation } from "../domain/refusal.ts";
import { field as fieldRules } from "../../gen/buf/validate/validate_pb.js";
import {
  compileEnum,
  compileScalar,
  decodeTimestamp,
  integerBounds,
  addViolation,
  type Decode,
} from "./decode-scalar.ts";

/** Decodes a JSON object into a request. Also returns violations, and up to `MAX_UNKNOWN` paths of unknown fields. */
export type DecodeJson = (json: object) => {
  request: Message;
  violations: Violation[];
  unknown: string[];
};

const MAX_UNKNOWN = 20;

const TIMESTAMP = "google.protobuf.Timestamp";

/**
 * Compiles a decoder for the JSON dialect of `/v1`. Fields have wire names, unknown fields are ignored, null means
 * absent, and each field with the wrong JSON type causes a violation. Ranges are not checked. In a request with a
 * `clear` field, an empty list or map clears the field.
 *
 * @throws Error at startup for a message that the dialect does not support
 */
export function compileDecodeJson(schema: DescMessage): DecodeJson {
  const decode = compileMessage(schema, new Map());
  const clearEmpty = compileClearEmpty(schema);
  return (json) => {
    const violations: Violation[] = [];
    const unknown: string[] = [];
    const request = decode(json, "", violations, unknown) as Message;
    clearEmpty?.(json as Record<string, unknown>, request);
    return { request, violations, unknown };
  };
}

function compileMessage(schema: DescMessage, known: Map<DescMessage, Decode>): Decode {
  const compiled = known.get(schema);
  if (compiled !== undefined) return compiled;
  if (schema.typeName === TIMESTAMP) return decodeTimestamp;
  if (schema.typeName.startsWith("google.protobuf.")) {
    throw new Error(`${schema.typeName} has no form in the JSON dialect`);
  }
  const steps: { name: string; set: SetField; decode: Decode }[] = [];
  const decodeMessage: Decode = (json, path, violations, unknown) => {
    if (!isObject(json)) return addViolation(violations, path, "must be an object");
    const message = create(schema) as unknown as Record<string, unknown>;
    let declared = 0;
    for (const { name, set, decode } of steps) {
      if (!Object.hasOwn(json, name)) continue;
      declared++;
      const value = json[name];
      if (value === undefined || value === null) continue;
      const at = join(path, name);
      const decoded = decode(value, at, violations, unknown);
      if (decoded !== undefined) set(message, decoded, at, violations);
    }
    if (declared < Object.keys(json).length) noteUnknown(schema, json, path, unknown);
    return message;
  };
  known.set(schema, decodeMessage);
  for (const field of schema.fields) {
    steps.push({ name: field.name, set: setter(field), decode: compileField(field, known) });
  }
  return decodeMessage;
}

function join(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

function noteUnknown(schema: DescMessage, json: object, path: string, unknown: string[]): void {
  const known = new Set(schema.fields.map(({ name }) => name));
  for (const name of Object.keys(json)) {
    if (unknown.length >= MAX_UNKNOWN) return;
    if (!known.has(name)) unknown.push(join(path, shownName(name)));
  }
}

/**
 * Compiles the conversion of empty lists and maps to names in the field `clear` of updates, because protobuf
 * cannot distinguish an empty list or map from an unset one. Returns `undefined` for requests without `clear`.
 */
function compileClearEmpty(
  schema: DescMessage,
): ((json: Readonly<Record<string, unknown>>, request: Message) => void) | undefined {
  if (schema.field["clear"]?.fieldKind !== "list") return undefined;
  const names = schema.fields
    .filter(({ fieldKind, name }) => name !== "clear" && /list|map/.test(fieldKind))
    .map(({ name }) => name);
  return (json, request) => {
    const { clear } = request as Message & { clear: string[] };
    for (const name of names) {
      const value = Object.hasOwn(json, name) ? json[name] : undefined;
      if (isEmpty(value) && !clear.includes(name)) clear.push(name);
    }
  };
}

function isEmpty(json: unknown): boolean {
  return Array.isArray(json) ? json.length === 0 : isObject(json) && Object.keys(json).length === 0;
}

type SetField = (message: Record<string, unknown>, value: unknown, path: string, violations: Violation[]) => void;

function setter(field: DescField): SetField {
  const { localName, oneof } = field;
  if (oneof === undefined) return (message, value) => (message[localName] = value);
  return (message, value, path, violations) => {
    const chosen = message[oneof.localName] as { case?: string };
    if (chosen.case !== undefined) {
      addViolation(violations, path, `cannot be combined with another field of ${oneof.name}`);
      return;
    }
    message[oneof.localName] = { case: localName, value };
  };
}

function compileField(field: DescField, known: Map<DescMessage, Decode>): Decode {
  switch (field.fieldKind) {
    case "list":
      return decodeList(compileElement(field, known), placeholderOf(field));
    case "map":
      if (field.mapKey !== ScalarType.STRING) {
        throw new Error(`${field.toString()} has keys that are no strings`);
      }
      return decodeMap(compileElement(field, known));
    default:
      return compileElement(field, known);
  }
}

function compileElement(field: DescField, known: Map<DescMessage, Decode>): Decode {
  if (field.message !== undefined) return compileMessage(field.message, known);
  if (field.enum !== undefined) return compileEnum(field.enum);
  const rules = hasOption(field, fieldRules) ? getOption(field, fieldRules) : undefined;
  return compileScalar(field.scalar, integerBounds(rules));
}

/**
 * Returns the placeholder for a message item that cannot be decoded, which keeps the positions of later
 * items. Other items are omitted, because their violation refuses the whole request.
 */
function placeholderOf(field: DescField & { fieldKind: "list" }): () => Message[] {
  const { message } = field;
  return message === undefined ? () => [] : () => [create(message)];
}

function decodeList(decode: Decode, placeholder: () => unknown[]): Decode {
  return (json, path, violations, unknown) => {
    if (!Array.isArray(json)) return addViolation(violations, path, "must be a list");
    return json.flatMap((item: unknown, i) => {
      const decoded =
        item === null
          ? addViolation(violations, `${path}[${i}]`, "must not be null")
          : decode(item, `${path}[${i}]`, violations, unknown);
      return decoded === undefined ? placeholder() : [decoded];
    });
  };
}

function decodeMap(decode: Decode): Decode {
  return (json, path, violations, unknown) => {
    if (!isObject(json)) return addViolation(violations, path, "must be an object");
    const entries = Object.entries(json).flatMap(([key, value]) => {
      const at = path + mapKey(key);
      const decoded = value === null ? undefined : decode(value, at, violations, unknown);
      return decoded === undefined ? [] : [[key, decoded] as const];
    });
    return Object.fromEntries(entries);
  };
}

function isObject(json: unknown): json is Record<string, unknown> {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}
