import type { DescService } from "@bufbuild/protobuf";
import type { Client } from "@connectrpc/connect";
import { ShipmentService } from "../../gen/shipments/v1/shipment_service_pb.js";
import { PROTOCOLS, rpcClient, type ServerUrls } from "./rpc-client.ts";

/** Both servers of a service that listens on the loopback address, in whatever process. */
export interface Endpoints extends ServerUrls {
  /** Sends a request to the HTTP server; with a body it is a POST of JSON. */
  request(path: string, options?: RequestOptions): Promise<Answer>;
  /** A gRPC client of the shipment service that sends the key as metadata. */
  grpcClient(apiKey: string): Client<typeof ShipmentService>;
  /** The same of another service. */
  grpcClient<S extends DescService>(apiKey: string, service: S): Client<S>;
}

/** What a request to the HTTP server carries. */
export interface RequestOptions {
  readonly apiKey?: string;
  readonly method?: string;
  /** Sent as JSON; text and bytes are sent as they are. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What the HTTP server answered. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed JSON; undefined when the text is not JSON. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests assert its shape
  // themselves
  readonly body: any;
}

/** The ways to call a service whose servers listen at these URLs. */
export function endpointsAt(httpUrl: string, grpcUrl: string): Endpoints {
  const urls = { httpUrl, grpcUrl };
  return {
    ...urls,
    request: async (path, options = {}) =>
      readAnswer(await fetch(`${httpUrl}${path}`, requestInit(options))),
    grpcClient: ((apiKey: string, service: DescService = ShipmentService) =>
      rpcClient(
        service,
        PROTOCOLS["gRPC on the gRPC server"],
        urls,
        apiKey,
      )) as Endpoints["grpcClient"],
  };
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
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: parse(text) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
