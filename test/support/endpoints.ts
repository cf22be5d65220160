import { deepEqual, equal } from "node:assert/strict";
import type { DescService } from "@bufbuild/protobuf";
import type { Client } from "@connectrpc/connect";
import { ShipmentService } from "../../gen/shipments/v1/shipment_service_pb.js";
import type { RefusalReason } from "../../src/domain/refusal.ts";
import { REASONS } from "../../src/domain/refusal-reasons.ts";
import {
  type Answer,
  clientOf,
  type ApiProtocol,
  type RequestOptions,
  type Servers,
  type TestClient,
} from "./client.ts";
import { PROTOCOLS, rpcClient } from "./rpc-client.ts";

/** Both servers of a service on the loopback address, in this or another process. */
export interface Endpoints extends Servers {
  /** Returns a client for a key, by default over JSON. */
  as(apiKey: string | undefined, protocol?: ApiProtocol): TestClient;
  /** Creates a gRPC client for the shipment service, with the key as metadata. */
  grpcClient(apiKey: string): Client<typeof ShipmentService>;
  /** Creates a gRPC client for another service. */
  grpcClient<S extends DescService>(apiKey: string, service: S): Client<S>;
}

/** Creates clients for the servers at these URLs. */
export function endpointsAt(httpUrl: string, grpcUrl: string): Endpoints {
  const urls = { httpUrl, grpcUrl };
  const endpoints: Endpoints = {
    ...urls,
    as: (apiKey, protocol = "json") => clientOf(endpoints, apiKey, protocol),
    request: async (path, options = {}) => readAnswer(await fetch(`${httpUrl}${path}`, requestInit(options))),
    grpcClient: ((apiKey: string, service: DescService = ShipmentService) =>
      rpcClient(service, PROTOCOLS["gRPC on the gRPC server"], urls, apiKey)) as Endpoints["grpcClient"],
  };
  return endpoints;
}

function requestInit({ apiKey, method, body, headers }: RequestOptions): RequestInit {
  const raw = typeof body === "string" || body instanceof Uint8Array;
  return {
    method: method ?? (body === undefined ? "GET" : "POST"),
    headers: {
      ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: (raw ? body : JSON.stringify(body)) as string }),
  };
}

async function readAnswer(response: Response): Promise<Answer> {
  return answerOf(response.status, response.headers, await response.text());
}

/**
 * Converts an HTTP response. For an error, asserts the body's keys, that the code matches the
 * status, and that the id matches the header.
 */
export function answerOf(status: number, headers: Headers, text: string): Answer {
  const body = parse(text);
  if (!isError(body)) return { status, headers, text, body, code: undefined };
  const { code, request_id, ...rest } = body;
  const facts = "metadata" in body ? ["metadata"] : [];
  deepEqual(Object.keys(body), ["message", "errors", "code", "request_id", ...facts], text);
  equal(request_id, headers.get("x-request-id"), text);
  equal(REASONS[code].httpStatus, status, text);
  return { status, headers, text, body: rest, code };
}

/** Returns the expected body of an error with one violation, of the given field or subject if any. */
export function errorBody(message: string, subject?: string) {
  return { message, errors: subject === undefined ? {} : { [subject]: [message] } };
}

function isError(body: unknown): body is Record<string, unknown> & { readonly code: RefusalReason } {
  return typeof body === "object" && body !== null && "message" in body && "errors" in body;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
