import { getOption, hasOption, type DescField, type DescMessage, type Message } from "@bufbuild/protobuf";
import { field as fieldRules } from "../../../gen/buf/validate/validate_pb.js";
import { compileDecodeJson, type DecodeJson } from "../../json/decode-json.ts";
import { compileEncodeJson, type JsonValue } from "../../json/encode-json.ts";
import type { CallHeaders } from "../../pipeline/call-headers.ts";
import type { DecodedRequest } from "../../pipeline/stages/execute.ts";
import { compileDecodeParameters, type DecodeParameters } from "./parameters.ts";
import { malformedConnectTimeoutError } from "../connect/deadlines.ts";
import { readIfMatch } from "./if-match.ts";
import { readQuery } from "./query.ts";
import { assertNotEncoded, parseBody } from "./read-body.ts";
import type { Route } from "./routes.ts";
import { nearestByWords } from "../../domain/nearest-name.ts";
import type { Violation } from "../../domain/refusal.ts";

export interface JsonRoute extends Route {
  readonly decodePath: DecodeParameters;
  readonly decodeQuery: DecodeParameters;
  readonly decodeJson: DecodeJson;
  readonly encodeJson: (message: Message) => JsonValue;
  /** Whether the body may be empty, because no body field is required. */
  readonly mayBeEmpty: boolean;
}

export interface Parameters {
  /** Path parameters: field names with the text of their segments. */
  readonly path: readonly (readonly [string, string])[];
  /** Query without the question mark, still percent-encoded. */
  readonly query: string;
}

const NO_PATH: Parameters["path"] = [];

/** @throws Error at startup if the path binds a field that is not a scalar of the request */
export function compileJsonRoute(route: Route): JsonRoute {
  const { input, output } = route.rpc.method;
  const bound = new Set(route.segments.flatMap((segment) => (segment.kind === "variable" ? [segment.field] : [])));
  for (const name of bound) {
    if (!input.fields.some((field) => field.name === name && field.fieldKind === "scalar")) {
      throw new Error(`${route.rpc.name} binds {${name}}, which is not a scalar field of its request`);
    }
  }
  const isQueried = (field: DescField) => route.body !== "json" && field !== route.body;
  return {
    ...route,
    decodePath: compileDecodeParameters(input.fields),
    decodeQuery: compileDecodeParameters(input.fields.filter(isQueried), bound),
    decodeJson: compileDecodeJson(input),
    encodeJson: compileEncodeJson(output),
    mayBeEmpty: !input.fields.some((field) => !bound.has(field.name) && isRequired(field)),
  };
}

/**
 * Creates a request message from the body and the URL's parameters. Unknown parameters are always refused, because a
 * list with a misspelled filter would return everything. Unknown body fields are refused only if the caller prefers
 * that.
 *
 * @returns the request, and the response headers that report how unknown fields were handled
 * @throws Refusal BODY_NOT_JSON, BODY_UNREADABLE, or FIELD_INVALID for an invalid header
 */
export function decodeRequest(
  route: JsonRoute,
  body: Buffer,
  headers: CallHeaders,
  { path, query }: Parameters,
): DecodedRequest & { readonly handling: readonly string[] } {
  if (headers.isTimeoutMalformed) throw malformedConnectTimeoutError();
  const json = route.body === "json" ? parseBody(body, headers, route.mayBeEmpty) : {};
  const unknown: Violation[] = [];
  if (query !== "") Object.assign(json, route.decodeQuery(readQuery(query, unknown), unknown));
  if (path.length > 0) Object.assign(json, route.decodePath(path, unknown));
  if (headers.ifMatch !== undefined && route.httpMethod !== "GET") {
    Object.assign(json, readIfMatch(headers.ifMatch, route.rpc.method.input, json));
  }
  if (typeof route.body === "string") {
    const decoded = route.decodeJson(json);
    const { request, violations, unknown: unknownFields } = decoded;
    const isStrict = prefersStrict(headers.prefer);
    if (isStrict) unknown.push(...unknownFieldViolations(route.rpc.method.input, unknownFields));
    const handling = handlingHeaders(unknownFields, isStrict);
    return { request, violations, unknown, unknownFields, handling };
  }
  assertNotEncoded(headers);
  const { request, violations } = route.decodeJson(json);
  (request as Message & Record<string, unknown>)[route.body.localName] = body;
  return { request, violations, unknown, handling: [] };
}

/** Returns the path and query parameters of a request. `pathSegments` is empty for a literal path. */
export function parametersOf({ segments }: Route, pathSegments: readonly string[], query: string): Parameters {
  if (pathSegments.length === 0) return { path: NO_PATH, query };
  const path = pathSegments.flatMap((text, i) => {
    const segment = segments[i];
    return segment?.kind === "variable" ? [[segment.field, unescape(text)] as const] : [];
  });
  return { path, query };
}

function isRequired(field: DescField): boolean {
  return hasOption(field, fieldRules) && getOption(field, fieldRules).required;
}

/** Percent-decodes a text. Returns malformed text unchanged, which then matches nothing. */
function unescape(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Maximum length of a path in a header, in characters. */
const SHOWN_CHARACTERS = 100;
const QUOTED = /"(?:[^"\\]|\\.)*"/g;
const HANDLING = /(?:^|,)\s*handling\s*=\s*(strict|lenient)\s*(?=[;,]|$)/i;
const NO_HEADERS: readonly string[] = [];
const STRICT: readonly string[] = ["preference-applied", "handling=strict"];

/**
 * Whether the caller prefers a refusal to ignored fields: `handling=strict` in a `Prefer` header. The
 * first `handling` counts (RFC 7240, 2 and 4.4).
 */
function prefersStrict(prefer: string | undefined): boolean {
  if (prefer === undefined) return false;
  // Quotes around a single word are removed. Other quoted strings are deleted.
  const plain = prefer.replace(QUOTED, (it) => (/^"\w+"$/.test(it) ? it.slice(1, -1) : ""));
  return HANDLING.exec(plain)?.[1]?.toLowerCase() === "strict";
}

/** Returns the violations for unknown fields of a request. Each suggests the most similar field. */
export function unknownFieldViolations(input: DescMessage, paths: readonly string[]): Violation[] {
  return paths.map((path) => unknownFieldViolation(path, nearestField(input, path)));
}

/** @param suggestion the most similar field, `undefined` if none is similar */
export function unknownFieldViolation(path: string, suggestion: string | undefined): Violation {
  const hint = suggestion === undefined ? "" : ` Did you mean ${suggestion}?`;
  const text = `${path} is not a field of this request.${hint}`;
  return { reason: "FIELD_INVALID", subject: path, text };
}

function nearestField(input: DescMessage, path: string): string | undefined {
  const parents = path.split(".");
  const name = parents.pop()!;
  let message: DescMessage | undefined = input;
  for (const parent of parents) {
    message = message?.fields.find((it) => it.name === parent.replace(/(\[\d+\])+$/, ""))?.message;
  }
  const names = message?.fields.map((it) => it.name) ?? [];
  return nearestByWords(name, names);
}

/**
 * Returns the headers that list ignored unknown fields, as alternating names and values.
 *
 * @param paths few enough to fit in a header
 */
function handlingHeaders(paths: readonly string[], isStrict: boolean): readonly string[] {
  if (isStrict) return STRICT;
  return paths.length === 0 ? NO_HEADERS : ["ignored-fields", paths.map(headerText).join(", ")];
}

/** Returns a path as visible ASCII without commas. Other characters are percent-encoded. */
function headerText(path: string): string {
  return encodeURIComponent(path.toWellFormed())
    .replace(/%5B/g, "[")
    .replace(/%5D/g, "]")
    .slice(0, SHOWN_CHARACTERS)
    .replace(/%.?$/, "");
}
