import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { duplicateMember } from "../../domain/duplicate-member.ts";
import { isObject } from "../../domain/faults.ts";
import { enumNumbers } from "../../json/decode-scalar.ts";
import { duplicateMemberError } from "./unreadable-request.ts";

/**
 * Returns Connect's JSON options for one request type, which refuse duplicate members and unknown enum names.
 *
 * Connect ignores unknown fields and also unknown enum names, so a key with a misspelled scope would get full scope.
 * These options replace an unknown name with an undeclared number, which validation reports together with all other
 * violations. The names of `/v1`, such as `read_only`, are also accepted.
 */
export function requestJsonOptions(input: DescMessage): object {
  const rewrite = compileMessage(input);
  const decode = (bytes?: Uint8Array) => {
    const text = UTF8.decode(bytes);
    const json: unknown = JSON.parse(text);
    const duplicate = isObject(json) ? duplicateMember(text, json) : undefined;
    if (duplicate !== undefined) throw duplicateMemberError(duplicate);
    return rewrite?.(json) ? JSON.stringify(json, keepNonFinite) : text;
  };
  return { textDecoder: { decode } };
}

/** Refuses other bytes, which Connect would store as U+FFFD. */
const UTF8 = new TextDecoder("utf-8", { fatal: true });

/** Replaces unknown names. No enum declares a negative number. */
const UNKNOWN_NUMBER = -1;

/** Replaces enum names in place. Returns whether any name was replaced. */
type Rewrite = (json: unknown) => boolean;
type RewriteValue = (holder: Record<string, unknown>, key: string) => boolean;

/** Compiled functions, which all requests share. `undefined` for a message without enums. */
const known = new Map<DescMessage, Rewrite | undefined>();

function compileMessage(schema: DescMessage): Rewrite | undefined {
  if (known.has(schema)) return known.get(schema);
  const steps = new Map<string, RewriteValue>();
  const rewrite: Rewrite = (json) => rewriteEach(json, (key) => steps.get(key));
  known.set(schema, rewrite);
  for (const field of schema.fields) {
    const step = compileField(field);
    if (step !== undefined) steps.set(field.name, step).set(field.jsonName, step);
  }
  if (steps.size > 0) return rewrite;
  known.set(schema, undefined);
  return undefined;
}

function compileField(field: DescField): RewriteValue | undefined {
  const value = compileValue(field);
  if (value === undefined || (field.fieldKind !== "list" && field.fieldKind !== "map")) return value;
  return (holder, key) => rewriteEach(holder[key], () => value);
}

function compileValue(field: DescField): RewriteValue | undefined {
  if (field.enum !== undefined) {
    const canonical = new Set(field.enum.values.map(({ name }) => name));
    const numbers = enumNumbers(field.enum);
    return (holder, key) => {
      const name = holder[key];
      if (typeof name !== "string" || canonical.has(name)) return false;
      holder[key] = numbers.get(name) ?? UNKNOWN_NUMBER;
      return true;
    };
  }
  // The only enum in `google.protobuf.Value` is null.
  if (field.message === undefined || field.message.typeName.startsWith("google.protobuf.")) {
    return undefined;
  }
  const message = compileMessage(field.message);
  return message && ((holder, key) => message(holder[key]));
}

/** Rewrites the members of an object or list. Other values stay unchanged, because Connect refuses them. */
function rewriteEach(json: unknown, stepOf: (key: string) => RewriteValue | undefined): boolean {
  if (typeof json !== "object" || json === null) return false;
  let changed = false;
  for (const key of Object.keys(json)) {
    const step = stepOf(key);
    if (step?.(json as Record<string, unknown>, key) === true) changed = true;
  }
  return changed;
}

/**
 * Keeps a number such as `1e999` as text, which protobuf refuses. Otherwise it would become null and be treated as
 * absent.
 */
function keepNonFinite(_key: string, value: unknown): unknown {
  return typeof value === "number" && !Number.isFinite(value) ? String(value) : value;
}
