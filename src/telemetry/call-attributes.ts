import type { Attributes } from "@opentelemetry/api";
import { Code } from "@connectrpc/connect";
import { cutKeys } from "../domain/secret-key.ts";
import { codeName, type ReceivedCall } from "../pipeline/call.ts";

export interface CallDescription {
  readonly name: string;
  readonly attributes: Attributes;
  /** Whether the service failed, rather than its caller. */
  readonly isFailure: boolean;
}

export interface HttpRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** The template that the path follows; undefined when it leads nowhere. */
  readonly route: string | undefined;
}

/**
 * Describes an HTTP request by OpenTelemetry's semantic conventions for HTTP server spans, 1.45. The
 * path of a request that leads nowhere is left out, since anything may be in it.
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
      // The servers speak no TLS.
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

/** Describes an RPC by the semantic conventions for gRPC and Connect server spans, 1.45. */
export function describeRpcCall(call: ReceivedCall): CallDescription {
  const isGrpc = call.headers.contentType?.startsWith("application/grpc") ?? false;
  const system = isGrpc ? "grpc" : "connectrpc";
  const code = call.code ?? Code.Canceled;
  // Connect's are the same in lower case.
  const status = isGrpc ? statusName(code) : statusName(code).toLowerCase();
  const isFailure = FAILURES.has(code);
  return {
    name: call.method ?? system,
    attributes: {
      "rpc.system.name": system,
      "rpc.method": call.method ?? "_OTHER",
      // Connect has codes for errors only.
      ...(code === 0 && !isGrpc ? {} : { "rpc.status_code": status }),
      ...(isFailure ? { "error.type": status } : {}),
      ...commonAttributes(call),
    },
    isFailure,
  };
}

/** gRPC's name of a code, such as DEADLINE_EXCEEDED; one is British there. */
function statusName(code: Code | 0): string {
  return code === Code.Canceled ? "CANCELLED" : codeName(code).toUpperCase();
}

/** The codes that the conventions count as errors of a server. */
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

/** A host, perhaps with a port; an IPv6 address is in brackets. */
const HOST = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/;

/** The server as its caller calls it. */
function serverAttributes(host = ""): Attributes {
  const [, address = "", port] = HOST.exec(host) ?? [];
  if (address === "") return {};
  const attributes: Attributes = { "server.address": address.replace(/^\[|\]$/g, "") };
  if (port !== undefined) attributes["server.port"] = Number(port);
  return attributes;
}

const EMAIL = /[^/]*(?:@|%40)[^/]*/gi;

/** A path without what a caller may have put where a name of a resource belongs. */
function withoutSecrets(path: string): string {
  const cut = cutKeys(path);
  return /@|%40/.test(cut) ? cut.replace(EMAIL, "REDACTED") : cut;
}
