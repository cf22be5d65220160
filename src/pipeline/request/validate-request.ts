import { getOption, hasOption, type DescField, type DescMessage, type Message } from "@bufbuild/protobuf";
import type { Path } from "@bufbuild/protobuf/reflect";
import { createValidator, type Violation as RuleViolation } from "@bufbuild/protovalidate";
import { field as fieldRules, Ignore } from "../../../gen/buf/validate/validate_pb.js";
import { pattern_means, required_unless } from "../../../gen/shipments/v1/options_pb.js";
import { mapKey } from "../../domain/clip.ts";
import { nearestByWords } from "../../domain/nearest-name.ts";
import { Refusal, type Violation } from "../../domain/refusal.ts";
import type { Decoding } from "../call.ts";
import { compileNormalizeRequest } from "./normalize-request.ts";

/**
 * Normalizes a request and validates it by the rules of its descriptor. All violations are reported
 * together, in field order. A field with the wrong type is not also reported as missing. If a missing
 * field may be misspelled, its violation names the unknown field.
 *
 * @returns decoding violations in list items, which the RPC's function reports per item
 * @throws Refusal FIELD_INVALID
 */
export type ValidateRequest = (request: Message, decoding?: Decoding) => readonly Violation[];

const NONE: readonly never[] = [];

const validator = createValidator();

export function compileValidateRequest(schema: DescMessage): ValidateRequest {
  const normalize = compileNormalizeRequest(schema);
  const order = new Map(schema.fields.map((field, i) => [field.name, i]));
  const fieldIndexOf = (violation: Violation) => order.get(firstName(violation.subject ?? "")) ?? -1;
  const placeholdersAt = placeholdersOf(schema);
  const leftToFunction = schema.fields.filter(leavesItems).map((field) => `${field.name}[`);
  const isLeft = ({ subject = "" }: Violation) => leftToFunction.some((prefix) => subject.startsWith(prefix));
  return (request, { violations: decoding = NONE, unknown = NONE, unknownFields = NONE } = {}) => {
    const left = decoding.filter(isLeft);
    const refused = left.length === 0 ? decoding : decoding.filter((it) => !isLeft(it));
    const ofText = normalize(request);
    const result = validator.validate(schema, request);
    if (result.kind === "error") throw result.error;
    const ofRules =
      result.kind === "invalid"
        ? result.violations.filter((it) => !clears(request, it) && !placeholdersAt(request, it))
        : NONE;
    const count = ofRules.length + refused.length + ofText.length + unknown.length;
    if (count === 0) return left;
    const found = [...unknown, ...refused, ...ofText];
    const described = ofRules.map((it) => describe(it, unknownFields));
    const violations = [...found, ...unlessFound(described, found)];
    violations.sort((a, b) => fieldIndexOf(a) - fieldIndexOf(b));
    throw new Refusal(violations);
  };
}

/**
 * Whether a rule is violated only because empty text clears an optional field. Such text need not satisfy the rule, for
 * example be an email.
 */
function clears(request: Message, { field: path, ruleId }: RuleViolation): boolean {
  const [step, below] = path;
  if (step?.kind !== "field" || below !== undefined || ruleId === "string.min_len") return false;
  const { localName, proto } = step;
  return proto.proto3Optional && (request as Message & Record<string, unknown>)[localName] === "";
}

/** Creates a check for whether another field replaces a required field. */
function placeholdersOf(schema: DescMessage) {
  const localName = new Map(schema.fields.map((field) => [field.name, field.localName]));
  const placeholders = new Map(
    schema.fields
      .filter((field) => hasOption(field, required_unless))
      .map((field) => [field.name, localName.get(getOption(field, required_unless))!]),
  );
  return (request: Message, { field: [step, below], ruleId }: RuleViolation): boolean => {
    if (step?.kind !== "field" || below !== undefined || ruleId !== "required") return false;
    const placeholder = placeholders.get(step.name);
    return placeholder !== undefined && (request as unknown as Fields)[placeholder] !== undefined;
  };
}

type Fields = Readonly<Record<string, unknown>>;

function leavesItems(field: DescField): boolean {
  if (!hasOption(field, fieldRules)) return false;
  const { type } = getOption(field, fieldRules);
  return type.case === "repeated" && type.value.items?.ignore === Ignore.ALWAYS;
}

/** Also omits fields of list items with the wrong type, for which empty messages were decoded. */
function unlessFound(violations: readonly Violation[], found: readonly Violation[]) {
  const subjects = new Set(found.map(({ subject }) => subject));
  return violations.filter(({ subject }) => !subjects.has(subject) && !subjects.has(subject?.replace(/\.\w+$/, "")));
}

function describe(violation: RuleViolation, unknownFields: readonly string[]): Violation {
  const path = pathText(violation.field);
  const text = `${path} ${wordsFor(violation, path, unknownFields)}.`;
  return { reason: "FIELD_INVALID", subject: path, text };
}

/** Returns the message of a violation without the field name. Only blank text violates `string.min_len`. */
function wordsFor(violation: RuleViolation, path: string, unknownFields: readonly string[]): string {
  if (violation.ruleId === "required") return `is required${misspelt(path, unknownFields)}`;
  if (violation.ruleId === "string.min_len") return "must not be blank";
  if (violation.ruleId === "string.pattern") return patternWords(violation);
  return allowedValues(violation) ?? plain(violation.message);
}

/** Rewrites messages of protovalidate such as `must contain no more than 50 item(s)`. */
function plain(message: string): string {
  return message
    .replace(/^must be in list \[(.*)\]$/, "must be one of $1")
    .replace(/^must contain no more than (\d+) item\(s\)$/, "must have at most $1 items")
    .replace("must contain at least 1 item(s)", "must have at least one item")
    .replace(/^map must be at most (\d+) entries$/, "must have at most $1 keys");
}

function patternWords({ field }: RuleViolation): string {
  const last = field.findLast(({ kind }) => kind === "field");
  const words = last?.kind === "field" ? getOption(last, pattern_means) : "";
  return words === "" ? "must be one line" : words;
}

/** Returns a hint about an unknown field that may be a misspelling of a missing field. Empty if there is no match. */
function misspelt(path: string, unknownFields: readonly string[]): string {
  const parent = path.slice(0, path.lastIndexOf(".") + 1);
  const beside = unknownFields.filter((it) => it.startsWith(parent));
  const name = nearestByWords(
    path.slice(parent.length),
    beside.map((it) => it.slice(parent.length)),
  );
  return name === undefined ? "" : `; the request has ${JSON.stringify(name)}, which is not a field`;
}

/** Returns the allowed values of an enum field. `undefined` for other rules. */
function allowedValues({ ruleId, field }: RuleViolation): string | undefined {
  const last = field.at(-1);
  if (!ruleId.startsWith("enum.") || last?.kind !== "field" || !last.enum) return undefined;
  const names = last.enum.values.filter(({ number }) => number !== 0).map(({ name }) => name);
  return `must be one of ${names.join(", ")}`;
}

function pathText(path: Path): string {
  return path.reduce((text, step) => {
    switch (step.kind) {
      case "list_sub":
        return `${text}[${step.index}]`;
      case "map_sub":
        return text + mapKey(String(step.key));
      default:
        return text === "" ? step.name : `${text}.${step.name}`;
    }
  }, "");
}

function firstName(path: string): string {
  return /^[^.[]*/.exec(path)?.[0] ?? path;
}
