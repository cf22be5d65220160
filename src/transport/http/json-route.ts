import {
  getOption,
  hasOption,
  type DescField,
  type DescMessage,
  type Message,
} from "@bufbuild/protobuf";
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

/** A route with precompiled decoders. */
export interface JsonRoute extends Route {
  readonly decodePath: DecodeParameters;
  readonly decodeQuery: DecodeParameters;
  readonly decodeJson: DecodeJson;
  readonly encodeJson: (message: Message) => JsonValue;
  /** Whether the body is optional because it has no required field. */
  readonly mayBeEmpty: boolean;
}

export interface Parameters {
  /** Segments of the path with the names of their fields. */
  readonly path: readonly (readonly [string, string])[];
  /** Without the question mark, still percent-encoded. */
  readonly query: string;
}

const NO_PATH: Parameters["path"] = [];

/** @throws Error at startup if the path binds a field that is not a scalar of the request */
export function compileJsonRoute(route: Route): JsonRoute {
  const { input, output } = route.rpc.method;
  const bound = new Set(
    route.segments.flatMap((segment) => (segment.kind === "variable" ? [segment.field] : [])),
  );
  for (const name of bound) {
    if (!input.fields.some((field) => field.name === name && field.fieldKind === "scalar")) {
      throw new Error(`${route.rpc.name} binds {${name}}, which is no scalar field of its request`);
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
 * Makes the request message out of a body and the parameters of its URL. An unknown parameter is to be refused, since
 * a filter with a typing error would list everything; an unknown field of the body is where the caller prefers that.
 *
 * @returns also the headers that tell what was made of unknown fields
 * @throws Refusal BODY_NOT_JSON, BODY_UNREADABLE, FIELD_INVALID for a header that cannot be read
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

/** `pathSegments` is empty for a literal path. */
export function parametersOf(
  { segments }: Route,
  pathSegments: readonly string[],
  query: string,
): Parameters {
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

/** Percent-decodes a text. Malformed text stays unchanged and matches nothing. */
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
 * Whether the caller prefers a refusal to ignored fields: `handling=strict` in a `Prefer` header,
 * whose first `handling` counts (RFC 7240, 2 and 4.4).
 */
function prefersStrict(prefer: string | undefined): boolean {
  if (prefer === undefined) return false;
  // Removes quotes around single words and other quoted strings.
  const plain = prefer.replace(QUOTED, (it) => (/^"\w+"$/.test(it) ? it.slice(1, -1) : ""));
  return HANDLING.exec(plain)?.[1]?.toLowerCase() === "strict";
}

/** The violations for unknown fields of a request, each with the field that is probably meant. */
export function unknownFieldViolations(input: DescMessage, paths: readonly string[]): Violation[] {
  return paths.map((path) => unknownFieldViolation(path, nearestField(input, path)));
}

/** @param meant the field that is probably meant, `undefined` if none is similar */
export function unknownFieldViolation(path: string, meant: string | undefined): Violation {
  const hint = meant === undefined ? "" : ` Did you mean ${meant}?`;
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
 * Returns the headers that list ignored unknown fields, alternating names and values.
 *
 * @param paths few enough for a header
 */
function handlingHeaders(paths: readonly string[], isStrict: boolean): readonly string[] {
  if (isStrict) return STRICT;
  return paths.length === 0 ? NO_HEADERS : ["ignored-fields", paths.map(headerText).join(", ")];
}

/** Returns a path in visible ASCII without commas, percent-encoding other characters. */
function headerText(path: string): string {
  return encodeURIComponent(path.toWellFormed())
    .replace(/%5B/g, "[")
    .replace(/%5D/g, "]")
    .slice(0, SHOWN_CHARACTERS)
    .replace(/%.?$/, "");
}
