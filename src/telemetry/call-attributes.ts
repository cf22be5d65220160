import type { Attributes } from "@opentelemetry/api";
import { Code } from "@connectrpc/connect";
import { cutKeys } from "../domain/secret-key.ts";
import { codeName, type ReceivedCall } from "../pipeline/call.ts";

export interface CallDescription {
  readonly name: string;
  readonly attributes: Attributes;
  /** Whether the service failed. False for errors of the caller. */
  readonly isFailure: boolean;
}

export interface HttpRequest {
  readonly method: string;
  /** Path without the query. */
  readonly path: string;
  /** Path template. `undefined` for an unknown path. */
  readonly route: string | undefined;
}

/**
 * Describes an HTTP request according to OpenTelemetry's semantic conventions for HTTP server spans,
 * 1.45. Unknown paths are omitted, because they can contain anything.
 */
export function describeHttpCall(
  call: ReceivedCall,
  { method, path, route }: HttpRequest,
  httpStatus: number,
): CallDescription {
  const known = HTTP_METHODS.has(method) ? method : "_OTHER";
  const named = known === "_OTHER" ? "HTTP" : known;
  const isFailure = httpStatus >= 500;
  return {
    name: route === undefined ? named : `${named} ${route}`,
    attributes: {
      "http.request.method": known,
      ...(known === "_OTHER" ? { "http.request.method_original": method } : {}),
      // The scheme is always http, because the servers do not use TLS.
      "url.scheme": "http",
      ...(route === undefined ? {} : { "http.route": route, "url.path": withoutSecrets(path) }),
      ...(httpStatus === 0 ? {} : { "http.response.status_code": httpStatus }),
      ...(isFailure ? { "error.type": String(httpStatus) } : {}),
      ...(call.method === undefined ? {} : { "rpc.method": call.method }),
      ...commonAttributes(call),
    },
    isFailure,
  };
}

const HTTP_METHODS: ReadonlySet<string> = new Set([
  "CONNECT",
  "DELETE",
  "GET",
  "HEAD",
  "OPTIONS",
  "PATCH",
  "POST",
  "PUT",
  "QUERY",
  "TRACE",
]);

/** Describes an RPC according to OpenTelemetry's semantic conventions for gRPC and Connect server spans, 1.45. */
export function describeRpcCall(call: ReceivedCall): CallDescription {
  const isGrpc = call.headers.contentType?.startsWith("application/grpc") ?? false;
  const system = isGrpc ? "grpc" : "connectrpc";
  const code = call.code ?? Code.Canceled;
  // Connect's code names are those of gRPC in lower case.
  const status = isGrpc ? statusName(code) : statusName(code).toLowerCase();
  const isFailure = FAILURES.has(code);
  return {
    name: call.method ?? system,
    attributes: {
      "rpc.system.name": system,
      "rpc.method": call.method ?? "_OTHER",
      // Connect has codes only for errors.
      ...(code === 0 && !isGrpc ? {} : { "rpc.status_code": status }),
      ...(isFailure ? { "error.type": status } : {}),
      ...commonAttributes(call),
    },
    isFailure,
  };
}

/** Returns the gRPC name of a code, such as DEADLINE_EXCEEDED. gRPC spells CANCELLED in British English. */
function statusName(code: Code | 0): string {
  return code === Code.Canceled ? "CANCELLED" : codeName(code).toUpperCase();
}

/** Codes that the conventions count as server errors. */
const FAILURES: ReadonlySet<number> = new Set([
  Code.Unknown,
  Code.DeadlineExceeded,
  Code.Unimplemented,
  Code.Internal,
  Code.Unavailable,
  Code.DataLoss,
]);

function commonAttributes({ admitted, headers }: ReceivedCall): Attributes {
  const caller = admitted?.caller;
  return {
    ...serverAttributes(headers.host),
    "shipments.request_id": headers.requestId,
    ...(caller?.audience === "workspace" ? { "shipments.workspace": caller.workspaceId } : {}),
  };
}

/** Matches a host with an optional port. IPv6 addresses are in brackets. */
const HOST = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/;

/** Returns the server attributes from the caller's Host header. */
function serverAttributes(host = ""): Attributes {
  const [, address = "", port] = HOST.exec(host) ?? [];
  if (address === "") return {};
  const attributes: Attributes = { "server.address": address.replace(/^\[|\]$/g, "") };
  if (port !== undefined) attributes["server.port"] = Number(port);
  return attributes;
}

const EMAIL = /[^/]*(?:@|%40)[^/]*/gi;

function withoutSecrets(path: string): string {
  const cut = cutKeys(path);
  return /@|%40/.test(cut) ? cut.replace(EMAIL, "REDACTED") : cut;
}
