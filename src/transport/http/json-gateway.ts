import type { IncomingMessage, ServerResponse } from "node:http";
import { getOption, hasOption, type DescField, type Message } from "@bufbuild/protobuf";
import { field as fieldRules } from "../../../gen/buf/validate/validate_pb.js";
import { Refusal, refuse } from "../../domain/refusal.ts";
import { readCallHeaders, type CallHeaders } from "../../pipeline/call-headers.ts";
import type { Call } from "../../pipeline/call.ts";
import type { Pipeline } from "../../pipeline/pipeline.ts";
import { errorBody } from "../../pipeline/error-body.ts";
import type { Exchange, Observer } from "../../pipeline/observe.ts";
import { rateLimitHeaders } from "../../pipeline/rate-limit-headers.ts";
import { refusalHeaders } from "../../pipeline/refusal-headers.ts";
import { REFUSAL_STATUS } from "../../pipeline/refusal-status.ts";
import type { Rpc } from "../../pipeline/rpc.ts";
import type { TickBatcher } from "../../pipeline/tick-batcher.ts";
import { whenResolved } from "../../pipeline/when-resolved.ts";
import { compileDecodeJson, type DecodeJson } from "../../json/decode-json.ts";
import { compileDecodeParameters, type DecodeParameters } from "./parameters.ts";
import { compileEncodeJson, type JsonValue } from "../../json/encode-json.ts";
import { parseBody, readBody, type Body } from "./read-body.ts";
import { compileRoutes, readRoutes, type Route } from "./routes.ts";
import { sendJsonText } from "./send-json.ts";

/** Answers one request at the JSON door. */
export type JsonGateway = (request: IncomingMessage, response: ServerResponse) => void;

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
 * on its path, in the dialect of `/v1`, through the same pipeline as gRPC. Checks go in the order
 * of what they may tell a stranger: route, credential, size and syntax, fields, then the RPC's own
 * rules.
 */
export function createJsonGateway(options: {
  readonly rpcs: readonly Rpc[];
  readonly pipeline: Pipeline;
  readonly observer: Observer;
  readonly tickBatcher: TickBatcher;
}): JsonGateway {
  const { pipeline, observer, tickBatcher } = options;
  const match = compileRoutes(readRoutes(options.rpcs).map(prepareRoute));

  function answer(visit: Visit): Pending {
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

  function callRpc(visit: Visit, route: PreparedRoute, parameters: Parameters): Pending {
    visit.exchange.rpc = route.rpc.name;
    return whenResolved(pipeline.admit(route.rpc, visit.headers), (call) => {
      visit.exchange.workspaceId = call.caller.workspaceId;
      readBody(visit.request, visit.headers, (body) =>
        tickBatcher.perform(() => attempt(visit, () => perform(visit, route, parameters, call, body))),
      );
    });
  }

  function perform(
    visit: Visit,
    route: PreparedRoute,
    parameters: Parameters,
    call: Call,
    body: Body,
  ): Pending {
    // Whoever hung up meanwhile would never learn what came of the call.
    if (visit.response.destroyed) return;
    if (body instanceof Refusal) throw body;
    const json = route.takesBody ? parseBody(body, visit.headers, route.mayBeEmpty) : {};
    if (parameters !== NO_PARAMETERS) Object.assign(json, route.decodeParameters(parameters));
    const { request, faults } = route.decodeJson(json);
    return whenResolved(pipeline.perform(route.rpc, request, call, faults), (response) =>
      sendResponse(visit, route, call, response),
    );
  }

  function sendResponse(visit: Visit, route: PreparedRoute, call: Call, message: Message): void {
    visit.exchange.code = 0;
    const more = headerList(rateLimitHeaders(call.rateLimit));
    if (call.replayed) more.push(...REPLAYED);
    send(visit, route.successStatus, route.encodeJson(message), more);
  }

  /** Sends a refusal with the headers its kind calls for. */
  function sendRefusal(visit: Visit, refusal: Refusal, extraHeaders: readonly string[] = []): void {
    const { code, httpStatus } = REFUSAL_STATUS[refusal.reason];
    visit.exchange.code = code;
    const more = [...extraHeaders, ...headerList(refusalHeaders(refusal))];
    send(visit, httpStatus, errorBody(refusal), more);
  }

  function send(
    { response, headers }: Visit,
    status: number,
    body: unknown,
    more: readonly string[],
  ): void {
    const text = JSON.stringify(body);
    tickBatcher.answer(() => sendJsonText(response, status, headers.requestId, text, more));
  }

  /** Does a step of a visit; whatever is thrown becomes the refusal to answer with. */
  function attempt(visit: Visit, step: () => Pending): void {
    const refuseFor = (error: unknown) =>
      sendRefusal(visit, pipeline.refusalFor(error, visit.headers.requestId));
    try {
      step()?.catch(refuseFor);
    } catch (error) {
      refuseFor(error);
    }
  }

  return (request, response) => {
    const headers = readCallHeaders(request.rawHeaders);
    const exchange = observer.begin(headers.requestId);
    const visit = { request, response, headers, exchange };
    response.on("close", () =>
      observer.end(exchange, response.headersSent ? response.statusCode : 0),
    );
    attempt(visit, () => answer(visit));
  };
}

/** What is still to come of a step that was begun; undefined when it is done. */
type Pending = Promise<void> | void;

function headerList(headers: Readonly<Record<string, string>>): string[] {
  const list: string[] = [];
  for (const name in headers) list.push(name, headers[name] as string);
  return list;
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

type Parameters = Iterable<readonly [string, string]>;

const NO_PARAMETERS: Parameters = [];

/** The query's parameters where there is no body for them, then the path's, which win. */
function parametersOf(route: Route, pathSegments: readonly string[], query: string): Parameters {
  const { segments, takesBody } = route;
  // A literal path, found at once, comes without its segments.
  const bound = pathSegments.flatMap((text, i) => {
    const segment = segments[i];
    return segment?.kind === "variable" ? [[segment.field, unescape(text)] as const] : [];
  });
  if (!takesBody && query !== "") return [...new URLSearchParams(query), ...bound];
  return bound.length === 0 ? NO_PARAMETERS : bound;
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
