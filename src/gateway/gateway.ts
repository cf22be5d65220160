import type { IncomingMessage, ServerResponse } from "node:http";
import { getOption, hasOption, type DescField, type Message } from "@bufbuild/protobuf";
import { field as fieldRules } from "../../gen/buf/validate/validate_pb.js";
import { refuse, type Refusal } from "../domain/refusal.ts";
import { readCallHeaders, type CallHeaders } from "../rpc/call-headers.ts";
import type { Corridor } from "../rpc/corridor.ts";
import { errorBody } from "../rpc/error-body.ts";
import type { Exchange, Observer } from "../rpc/observe.ts";
import { rateLimitHeaders } from "../rpc/rate-limit-headers.ts";
import { REFUSAL_STATUS } from "../rpc/refusal-status.ts";
import type { Rpc } from "../rpc/rpc.ts";
import { compileDecodeJson, type DecodeJson } from "./decode-json.ts";
import { compileDecodeParameters, type DecodeParameters } from "./decode-parameters.ts";
import { compileEncodeJson, type JsonValue } from "./encode-json.ts";
import { parseBody, readBody } from "./read-body.ts";
import { compileRoutes, readRoutes, type Route } from "./routes.ts";
import { sendJson } from "./send-json.ts";

/** Answers one request at the JSON door. */
export type Gateway = (request: IncomingMessage, response: ServerResponse) => void;

/** A route with everything prepared that its requests need. */
interface PreparedRoute extends Route {
  readonly decodeParameters: DecodeParameters;
  readonly decodeJson: DecodeJson;
  readonly encodeJson: (message: Message) => JsonValue;
  /** Whether no field of the body is required, so that the body may be left out. */
  readonly mayBeEmpty: boolean;
}

const REPLAYED = ["idempotency-replayed", "true"];

/** One request on its way through the gateway. */
interface Visit {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly headers: CallHeaders;
  readonly exchange: Exchange;
}

/**
 * Builds the JSON door out of the descriptors: every RPC with a `google.api.http` option is served
 * on its path, in the dialect of `/v1`, through the same corridor as gRPC. Checks go in the order
 * of what they may tell a stranger: route, credential, size and syntax, fields, then the RPC's own
 * rules.
 */
export function createGateway(options: {
  readonly rpcs: readonly Rpc[];
  readonly corridor: Corridor;
  readonly observer: Observer;
}): Gateway {
  const { corridor, observer } = options;
  const match = compileRoutes(readRoutes(options.rpcs).map(prepareRoute));

  async function answer(visit: Visit): Promise<void> {
    const [path, query] = splitUrl(visit.request.url ?? "");
    const found = match(visit.request.method ?? "", path);
    switch (found.kind) {
      case "no-such-path":
        return sendRefusal(visit, refuse("NO_SUCH_METHOD", "There is nothing at this path."));
      case "method-not-allowed":
        return sendRefusal(visit, methodNotAllowed(found.allow), ["allow", found.allow]);
      case "found":
        return callRpc(visit, found.route, parametersOf(found.route, found.pathSegments, query));
    }
  }

  async function callRpc(
    { request, response, headers, exchange }: Visit,
    route: PreparedRoute,
    parameters: Iterable<readonly [string, string]>,
  ): Promise<void> {
    exchange.rpc = route.rpc.name;
    // Waiting for what is already there would cost a turn of the event loop's microtasks each time.
    const admitted = corridor.admit(route.rpc, headers);
    const call = admitted instanceof Promise ? await admitted : admitted;
    exchange.workspaceId = call.caller.workspaceId;

    const body = await readBody(request, headers);
    if (body === undefined) return;
    const json = route.takesBody ? parseBody(body, headers, route.mayBeEmpty) : {};
    const decoded = route.decodeJson(Object.assign(json, route.decodeParameters(parameters)));

    const performed = corridor.perform(route.rpc, decoded.request, call, decoded.faults);
    const result = performed instanceof Promise ? await performed : performed;
    exchange.code = 0;
    const extra = Object.entries(rateLimitHeaders(call.rateLimit)).flat();
    if (call.replayed) extra.push(...REPLAYED);
    sendJson(response, route.successStatus, headers.requestId, route.encodeJson(result), extra);
  }

  return (request, response) => {
    const headers = readCallHeaders(request.rawHeaders);
    const exchange = observer.begin(headers.requestId);
    const visit = { request, response, headers, exchange };
    response.once("close", () =>
      observer.end(exchange, response.headersSent ? response.statusCode : 0),
    );
    answer(visit).catch((error: unknown) =>
      sendRefusal(visit, corridor.refusalFor(error, headers.requestId)),
    );
  };
}

/** Sends a refusal with the headers its kind calls for. */
function sendRefusal(
  { response, headers, exchange }: Visit,
  refusal: Refusal,
  extraHeaders: readonly string[] = [],
): void {
  const { code, httpStatus } = REFUSAL_STATUS[refusal.reason];
  exchange.code = code;
  const more = [...extraHeaders];
  if (refusal.reason === "CREDENTIAL_REFUSED") more.push("www-authenticate", "Bearer");
  if (refusal.rateLimit !== undefined) {
    more.push(...Object.entries(rateLimitHeaders(refusal.rateLimit)).flat());
  }
  if (refusal.retryAfterSeconds !== undefined) {
    more.push("retry-after", String(refusal.retryAfterSeconds));
  }
  sendJson(response, httpStatus, headers.requestId, errorBody(refusal), more);
}

function prepareRoute(route: Route): PreparedRoute {
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

function isRequired(field: DescField): boolean {
  return hasOption(field, fieldRules) && getOption(field, fieldRules).required;
}

/** The query's parameters where there is no body for them, then the path's, which win. */
function* parametersOf(
  route: Route,
  pathSegments: readonly string[],
  query: string,
): Iterable<readonly [string, string]> {
  if (!route.takesBody) yield* new URLSearchParams(query);
  for (const [i, segment] of route.segments.entries()) {
    if (segment.kind === "variable") yield [segment.field, unescape(pathSegments[i] as string)];
  }
}

/**
 * Undoes percent-encoding; text that is not well encoded stands for itself, and so for nothing
 * there is.
 */
function unescape(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function splitUrl(url: string): [path: string, query: string] {
  const mark = url.indexOf("?");
  return mark === -1 ? [url, ""] : [url.slice(0, mark), url.slice(mark + 1)];
}

function methodNotAllowed(allow: string): Refusal {
  return refuse("METHOD_NOT_ALLOWED", `This path does not take that method; it takes ${allow}.`);
}
