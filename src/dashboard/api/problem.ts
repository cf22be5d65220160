import { Code, ConnectError } from "@connectrpc/connect";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  PreconditionFailureSchema,
} from "../../../gen/google/rpc/error_details_pb.js";

export interface Problem {
  /** The first error as a sentence. */
  readonly message: string;
  /** Errors by request field or other subject. Pass them through `plainText` before display. */
  readonly fields: Readonly<Record<string, readonly string[]>>;
  /** Machine-readable reason, such as `SHIPMENT_STATE`. `undefined` if not given. */
  readonly reason: string | undefined;
  readonly facts: Readonly<Record<string, string>>;
  readonly code: Code;
}

/** Suffix of a message when several fields have errors. */
const MORE_ERRORS = / \(and \d+ more errors?\)$/;

export function problemOf(thrown: unknown): Problem {
  const error = ConnectError.from(thrown);
  const [info] = error.findDetails(ErrorInfoSchema);
  const fields = fieldsOf(error);
  const [about = ""] = Object.keys(fields);
  return {
    message: isLost(error)
      ? "The service cannot be reached."
      : plainText(error.rawMessage.replace(MORE_ERRORS, ""), about),
    fields,
    reason: info?.reason,
    facts: info?.metadata ?? {},
    code: error.code,
  };
}

/** Creates an error for a form field that fails validation in the browser. It is shown like a refusal. */
export function fieldError(field: string, description: string): ConnectError {
  const value = { fieldViolations: [{ field, description }] };
  const detail = { desc: BadRequestSchema, value };
  return new ConnectError(description, Code.InvalidArgument, undefined, [detail]);
}

/**
 * Whether the service was unreachable, timed out or is not accepting calls. False if one of the
 * service's dependencies, such as a payment provider, timed out.
 */
export function isLost(error: ConnectError): boolean {
  const [info] = error.findDetails(ErrorInfoSchema);
  return (
    (error.code === Code.Unavailable && info?.metadata["waits_for"] === undefined) ||
    (error.code === Code.DeadlineExceeded && info === undefined) ||
    error.cause instanceof TypeError
  );
}

function fieldsOf(error: ConnectError): Record<string, string[]> {
  const fields: Record<string, string[]> = {};
  const add = (name: string, text: string) => (fields[name] ??= []).push(text);
  for (const { fieldViolations } of error.findDetails(BadRequestSchema)) {
    for (const { field, description } of fieldViolations) add(field, description);
  }
  for (const { violations } of error.findDetails(PreconditionFailureSchema)) {
    for (const { subject, description } of violations) add(subject, description);
  }
  return fields;
}

export type Labels = ReadonlyMap<string, string>;

/**
 * Rewords a refusal with the page's label of its field: `customer_name is required.` becomes `Name
 * is required.` Only field names are replaced, never typed text.
 *
 * @param name field path in the request, optionally with an element, as in `metadata["gate"]`
 */
export function plainText(text: string, name: string, labels: Labels = new Map()): string {
  const begins = text.startsWith(`${name} `);
  let plain = begins ? `${titleOf(name, labels)}${text.slice(name.length)}` : text;
  // The text names fields of the same nested message without their path.
  const path = name.replace(/[^.]*$/, "");
  for (const [other, label] of [...labels, [name, wordsOf(name)] as const]) {
    const last = other.slice(path.length);
    if (other.startsWith(path) && last.includes("_")) {
      plain = plain.replaceAll(wordOf(last), `“${label}”`);
    }
  }
  return plain;
}

/** Returns the form field of a refusal. An error in an element belongs to its whole list or map. */
export function fieldOf(name: string, labels: Labels): string | undefined {
  return [name, name.replace(/[.[].*$/, "")].find((field) => labels.has(field));
}

function titleOf(name: string, labels: Labels): string {
  const field = fieldOf(name, labels);
  const words = wordsOf(name);
  if (field === undefined) return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
  const key = /\["?(.*?)"?\]$/s.exec(name.slice(field.length))?.[1];
  return key === undefined ? labels.get(field)! : `${labels.get(field)!} “${key}”`;
}

function wordsOf(name: string): string {
  return name.replaceAll("_", " ");
}

function wordOf(name: string): RegExp {
  const escaped = name.replace(/[^\w]/g, "\\$&");
  return new RegExp(`(?<![\\w.@:/“-])${escaped}(?![\\w@:/”-])`, "g");
}
