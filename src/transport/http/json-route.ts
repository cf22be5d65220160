import { getOption, hasOption, type DescField, type Message } from "@bufbuild/protobuf";
import { field as fieldRules } from "../../../gen/buf/validate/validate_pb.js";
import { compileDecodeJson, type DecodeJson } from "../../json/decode-json.ts";
import { compileEncodeJson, type JsonValue } from "../../json/encode-json.ts";
import type { CallHeaders } from "../../pipeline/call-headers.ts";
import type { DecodedRequest } from "../../pipeline/serve-unary.ts";
import { compileDecodeParameters, type DecodeParameters } from "./parameters.ts";
import { assertNotEncoded, parseBody } from "./read-body.ts";
import type { Route } from "./routes.ts";

/** A route with everything compiled that its requests need. */
export interface JsonRoute extends Route {
  readonly decodeParameters: DecodeParameters;
  readonly decodeJson: DecodeJson;
  readonly encodeJson: (message: Message) => JsonValue;
  /** Whether no field of the body is required, so that the body may be left out. */
  readonly mayBeEmpty: boolean;
}

/** Names and texts of path and query parameters. */
export type Parameters = Iterable<readonly [string, string]>;

const NO_PARAMETERS: Parameters = [];

/**
 * Compiles the decoding and encoding of a route.
 *
 * @throws Error at start-up when the path binds what is no scalar field of the request
 */
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
  return {
    ...route,
    decodeParameters: compileDecodeParameters(input),
    decodeJson: compileDecodeJson(input),
    encodeJson: compileEncodeJson(output),
    mayBeEmpty: !input.fields.some((field) => !bound.has(field.name) && isRequired(field)),
  };
}

/**
 * Makes the request message out of a body and the parameters of its URL.
 *
 * @throws Refusal BODY_NOT_JSON, BODY_UNREADABLE
 */
export function decodeRequest(
  route: JsonRoute,
  body: Buffer,
  headers: CallHeaders,
  parameters: Parameters,
): DecodedRequest {
  const json = route.body === "json" ? parseBody(body, headers, route.mayBeEmpty) : {};
  if (parameters !== NO_PARAMETERS) Object.assign(json, route.decodeParameters(parameters));
  if (typeof route.body === "string") return route.decodeJson(json);

  assertNotEncoded(headers);
  const { name, localName } = route.body;
  const decoded = route.decodeJson({ ...json, [name]: null });
  (decoded.request as Message & Record<string, unknown>)[localName] = body;
  return decoded;
}

/**
 * The parameters of a URL: the query's unless the body is JSON, then the path's, which win.
 *
 * @param pathSegments empty for a literal path
 */
export function parametersOf(
  { segments, body }: Route,
  pathSegments: readonly string[],
  query: string,
): Parameters {
  const bound = pathSegments.flatMap((text, i) => {
    const segment = segments[i];
    return segment?.kind === "variable" ? [[segment.field, unescape(text)] as const] : [];
  });
  if (body !== "json" && query !== "") return [...new URLSearchParams(query), ...bound];
  return bound.length === 0 ? NO_PARAMETERS : bound;
}

function isRequired(field: DescField): boolean {
  return hasOption(field, fieldRules) && getOption(field, fieldRules).required;
}

/** Undoes percent-encoding; text that is not well encoded stays as it is, and so names nothing. */
function unescape(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
