import { getOption, hasOption, type DescField, type DescMessage, type Message } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { field as fieldRules } from "../../../gen/buf/validate/validate_pb.js";
import { http } from "../../../gen/google/api/annotations_pb.js";
import { decimals } from "../../../gen/shipments/v1/options_pb.js";
import { mapKey } from "../../domain/clip.ts";
import { hasValidLocalPart, withAsciiDomain } from "../../domain/email.ts";
import { roundHalfUp } from "../../domain/pricing/money.ts";
import { fieldViolation, type Violation } from "../../domain/refusal.ts";
import { upperCaseReference } from "../../domain/shipment/shipment-reference.ts";

/** Normalizes text and numbers of a request in place. Returns violations for invalid text and times. */
export type NormalizeRequest = (request: Message) => Violation[];

type Fields = Record<string, unknown>;
type NormalizeField = (fields: Fields, path: string, violations: Violation[]) => void;

/**
 * Compiles the normalization of one request type, for JSON and gRPC. It covers nested messages, lists and map values:
 * - Text is composed to NFC and trimmed, and directional embeddings and overrides are removed.
 * - Text that contains only invisible characters is blank. Blank optional strings become absent. In an update they
 *   become empty text, which clears the field, because an absent field stays unchanged.
 * - Text must be well-formed Unicode without NUL. PostgreSQL stores neither NUL nor half a surrogate pair.
 * - Times must be in the years 0001 to 9999, the range of RFC 3339.
 * - Numbers with the option `decimals` are rounded.
 * - Domains of emails are converted to ASCII.
 */
export function compileNormalizeRequest(schema: DescMessage): NormalizeRequest {
  const normalize = compileMessage(schema, [], isUpdate(schema));
  return (request) => {
    const violations: Violation[] = [];
    normalize?.(request, "", violations);
    return violations;
  };
}

/** Whether a message is the request of an update, which is an RPC with a PATCH path (RFC 5789). */
function isUpdate(schema: DescMessage): boolean {
  return schema.file.services
    .flatMap(({ methods }) => methods)
    .some((it) => it.input === schema && hasOption(it, http) && getOption(it, http).pattern.case === "patch");
}

/**
 * @param keepsBlank whether blank optional text becomes empty text instead of absent. Nested messages never keep it.
 */
function compileMessage(
  schema: DescMessage,
  parents: readonly DescMessage[],
  keepsBlank = false,
): NormalizeField | undefined {
  if (parents.includes(schema)) {
    throw new Error(`${schema.typeName} holds itself; requests have a bounded depth`);
  }
  const steps = schema.fields.flatMap((field) => compileField(field, [...parents, schema], keepsBlank) ?? []);
  if (steps.length === 0) return undefined;
  return (fields, path, violations) => {
    for (const step of steps) step(fields, path, violations);
  };
}

function compileField(
  field: DescField,
  parents: readonly DescMessage[],
  keepsBlank: boolean,
): NormalizeField | undefined {
  const { localName, name } = field;
  switch (field.fieldKind) {
    case "scalar":
      if (hasOption(field, decimals)) return roundNumber(localName, getOption(field, decimals));
      return isText(field.scalar) ? normalizeSingle(field, keepsBlank) : undefined;
    case "message": {
      if (field.message.typeName === TIMESTAMP) return checkTimestamp(localName, name);
      const nested = compileMessage(field.message, parents);
      return (
        nested &&
        ((fields, path, violations) => {
          const value = fields[localName] as Fields | undefined;
          if (value !== undefined) nested(value, `${path}${name}.`, violations);
        })
      );
    }
    case "list": {
      if (field.listKind === "scalar" && isText(field.scalar)) return normalizeList(field);
      if (field.listKind !== "message") return undefined;
      const nested = compileMessage(field.message, parents);
      return (
        nested &&
        ((fields, path, violations) => {
          (fields[localName] as Fields[]).forEach((item, i) => nested(item, `${path}${name}[${i}].`, violations));
        })
      );
    }
    case "map":
      return field.mapKind === "scalar" && isText(field.scalar) ? normalizeMap(localName, name) : undefined;
    default:
      return undefined;
  }
}

/** Whether a scalar is `ScalarType.STRING`, which is 9 in descriptor.proto. */
function isText(scalar: number): boolean {
  return scalar === 9;
}

const TIMESTAMP = "google.protobuf.Timestamp";
/** 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z, the bounds in timestamp.proto, in seconds. */
const FIRST_SECOND = -62_135_596_800n;
const LAST_SECOND = 253_402_300_799n;

function checkTimestamp(localName: string, name: string): NormalizeField {
  return (fields, path, violations) => {
    const time = fields[localName] as Timestamp | undefined;
    if (time === undefined) return;
    const { seconds, nanos } = time;
    const isInYears = seconds >= FIRST_SECOND && seconds <= LAST_SECOND;
    if (isInYears && nanos >= 0 && nanos < 1e9) return;
    const text = isInYears
      ? `must have nanos from 0 to 999,999,999; they are ${nanos}`
      : "must be a time from year 0001 to 9999";
    violations.push(fieldViolation(path + name, `${text}.`));
  };
}

function roundNumber(localName: string, fractionDigits: number): NormalizeField {
  return (fields) => {
    const value = fields[localName] as number | undefined;
    if (value !== undefined) fields[localName] = roundHalfUp(value, fractionDigits);
  };
}

function normalizeSingle(field: DescField, keepsBlank: boolean): NormalizeField {
  const { localName, name } = field;
  const normalize = textOf(field);
  const oneof = field.oneof?.localName;
  const isDropped = field.proto.proto3Optional && !keepsBlank;
  return (fields, path, violations) => {
    if (oneof !== undefined) {
      const chosen = fields[oneof] as { case?: string; value?: unknown };
      if (chosen.case === localName) {
        chosen.value = normalize(chosen.value as string, path + name, violations);
      }
      return;
    }
    const value = fields[localName] as string | undefined;
    if (value === undefined || value === "") {
      if (isDropped) fields[localName] = undefined;
      return;
    }
    const normalized = normalize(value, path + name, violations);
    fields[localName] = normalized === "" && isDropped ? undefined : normalized;
  };
}

function normalizeList(field: DescField): NormalizeField {
  const { localName, name } = field;
  const normalize = textOf(field);
  return (fields, path, violations) => {
    fields[localName] = (fields[localName] as string[]).map((item, i) =>
      normalize(item, `${path}${name}[${i}]`, violations),
    );
  };
}

function normalizeMap(localName: string, name: string): NormalizeField {
  return (fields, path, violations) => {
    const map = fields[localName] as Record<string, string>;
    for (const [key, value] of Object.entries(map)) {
      const at = path + name + mapKey(key);
      const composed = composeText(key, at, violations);
      const normalized = normalizeText(value, at, violations);
      // Assigning this key would set the object's prototype.
      if (composed === "__proto__") violations.push(invalidKey(at, "is not allowed"));
      else if (composed === key) map[key] = normalized;
      else if (Object.hasOwn(map, composed)) violations.push(invalidKey(at, "is given twice"));
      else {
        delete map[key];
        map[composed] = normalized;
      }
    }
  };
}

function invalidKey(at: string, problem: string): Violation {
  return fieldViolation(at, `${problem}. Use another key.`);
}

/** Fields that contain references of shipments. `subject` can also contain a webhook id. */
const REFERENCE_FIELDS: ReadonlySet<string> = new Set(["shipment", "shipments", "subject"]);

/**
 * Returns the normalization for the text of a field. References match in any letter case, and emails
 * with either form of an internationalized domain.
 */
function textOf(field: DescField): typeof normalizeText {
  if (isEmail(field)) return normalizeEmail;
  if (!REFERENCE_FIELDS.has(field.name)) return normalizeText;
  return (...given) => upperCaseReference(normalizeText(...given));
}

/** Whether the field has the rule `string.email`. */
function isEmail(field: DescField): boolean {
  if (!hasOption(field, fieldRules)) return false;
  const { type } = getOption(field, fieldRules);
  return type.case === "string" && type.value.wellKnown.case === "email";
}

/**
 * Normalizes an email and checks the part before the @, because the rule `string.email` accepts any
 * length and dots anywhere.
 */
function normalizeEmail(text: string, path: string, violations: Violation[]): string {
  const email = withAsciiDomain(normalizeText(text, path, violations));
  if (!hasValidLocalPart(email)) {
    violations.push(fieldViolation(path, `${LOCAL_PART}.`));
  }
  return email;
}

const LOCAL_PART = "must have at most 64 characters before the @, with single dots only between other characters";

function normalizeText(text: string, path: string, violations: Violation[]): string {
  const normalized = composeText(text, path, violations).trim();
  return INVISIBLE.test(normalized) ? "" : normalized;
}

/**
 * Composes text to NFC, removes characters that change the text direction, and reports text that cannot be stored.
 */
function composeText(text: string, path: string, violations: Violation[]): string {
  if (text.includes("\0") || !text.isWellFormed()) {
    violations.push(fieldViolation(path, "must be valid Unicode text without NUL characters."));
  }
  // Latin-1 text is always in NFC.
  return BEYOND_LATIN_1.test(text) ? text.replace(DIRECTION_CHANGES, "").normalize("NFC") : text;
}

const BEYOND_LATIN_1 = /[\u0100-\uffff]/;

/**
 * Matches text without visible characters: spaces, control and default-ignorable characters (UAX #44),
 * and the blank Braille pattern.
 */
const INVISIBLE = /^[\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cc}\u2800]+$/u;

/** Directional embeddings and overrides (UAX #9). They would also reorder text that follows a name. */
const DIRECTION_CHANGES = /[\u202a-\u202e]/g;
