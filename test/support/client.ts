import { deepEqual, equal } from "node:assert/strict";
import {
  getOption,
  hasOption,
  type DescMessage,
  type DescMethod,
  type DescService,
  type Message,
  type MessageShape,
} from "@bufbuild/protobuf";
import { ConnectError, type CallOptions } from "@connectrpc/connect";
import { success_status } from "../../gen/shipments/v1/options_pb.js";
import type { RefusalReason } from "../../src/domain/refusal.ts";
import { REASONS } from "../../src/domain/refusal-reasons.ts";
import { compileDecodeJson } from "../../src/json/decode-json.ts";
import type { ADMIN_SERVICES, SERVICES } from "../../src/server/services.ts";
import { describedMethods, httpCalls } from "./described-services.ts";
import { inDialect } from "./dialect.ts";
import { PROTOCOLS, rpcClient, type ServerUrls } from "./rpc-client.ts";
import { plainError } from "./rpc-error.ts";

/** The HTTP and the gRPC server of a service. */
export interface Servers extends ServerUrls {
  /** Sends a request to the HTTP server. A request with a body is a JSON POST by default. */
  request(path: string, options?: RequestOptions): Promise<Answer>;
}

/** Options of a request to the HTTP server. */
export interface RequestOptions {
  readonly apiKey?: string | undefined;
  readonly method?: string;
  /** Request body, sent as JSON. Text and bytes are sent unchanged. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Response of the HTTP server. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Parsed JSON body. For an error, its message and errors. `undefined` if the body is not JSON. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests assert its shape
  // themselves
  readonly body: any;
  /** Reason in an error response, otherwise `undefined`. */
  readonly code: string | undefined;
}

/** Wire name (snake_case) of a field. */
type WireName<Name> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${WireName<Rest>}`
  : "";

type Fields<Request extends DescMessage> = object & {
  readonly [Name in Exclude<keyof MessageShape<Request>, keyof Message> as WireName<Name>]?: unknown;
};

type CallHeaders = Readonly<Record<string, string>>;

/**
 * Calls a method with JSON fields by wire name, and with headers. A stream's response is its text
 * and is only available over JSON.
 */
type CallMethod<Request extends DescMessage> = (fields?: Fields<Request>, headers?: CallHeaders) => Promise<Answer>;

type ClientOf<Service> = Service extends { readonly method: infer Methods }
  ? {
      readonly [Name in keyof Methods]: Methods[Name] extends {
        input: infer Request extends DescMessage;
      }
        ? CallMethod<Request>
        : never;
    }
  : never;

type Together<Clients> = (Clients extends unknown ? (client: Clients) => void : never) extends (
  client: infer All,
) => void
  ? All
  : never;

/** All methods for workspaces and operators. */
export type TestClient = Together<ClientOf<(typeof SERVICES | typeof ADMIN_SERVICES)[number]>>;

/** Protocol of a client. Requests and responses have the same form over all protocols. */
export type ApiProtocol = "json" | "grpc" | keyof typeof PROTOCOLS;

const METHODS = {
  workspace: byName(await describedMethods("workspace")),
  operator: byName(await describedMethods("operator")),
};

function byName(methods: readonly DescMethod[]) {
  return new Map(methods.map((method) => [method.localName, method]));
}

/** Returns a client for the owner of a key. */
export function clientOf(servers: Servers, apiKey: string | undefined, protocol: ApiProtocol): TestClient {
  // `GetWorkspace` exists for workspaces and for operators.
  const known = apiKey?.startsWith("sho_")
    ? new Map([...METHODS.workspace, ...METHODS.operator])
    : new Map([...METHODS.operator, ...METHODS.workspace]);
  const call = protocol === "json" ? callByJson(servers, apiKey) : callByRpc(servers, apiKey, protocol);
  return new Proxy({} as TestClient, {
    get(_, name: string) {
      const method = known.get(name);
      return method && ((fields: object = {}, headers: CallHeaders = {}) => call(method, fields, headers));
    },
  });
}

type Call = (method: DescMethod, fields: object, headers: CallHeaders) => Promise<Answer>;

function callByJson(servers: Servers, apiKey: string | undefined): Call {
  return (method, fields, headers) => {
    const [call] = httpCalls(method, fields as Readonly<Record<string, unknown>>);
    if (call === undefined) throw new Error(`no path of ${method.name} can carry these fields`);
    const { path, ...rest } = call;
    return servers.request(path, { ...rest, apiKey, headers });
  };
}

function callByRpc(servers: Servers, apiKey = "", protocol: Exclude<ApiProtocol, "json">): Call {
  const transportTo = PROTOCOLS[protocol === "grpc" ? "gRPC on the gRPC server" : protocol];
  const clients = new Map<DescService, any>();
  return async (method, fields, headers) => {
    const { parent, input, output, localName } = method;
    if (!clients.has(parent)) {
      clients.set(parent, rpcClient(parent, transportTo, servers, apiKey));
    }
    const { request, violations } = compileDecodeJson(input)(fields);
    deepEqual(violations, [], "only JSON can carry these fields");
    let sent = new Headers();
    const onHeader = (header: Headers) => (sent = header);
    const call: (request: Message, options: CallOptions) => Promise<Message> = clients.get(parent)[localName];
    try {
      const body = inDialect(output, await call(request, { headers, onHeader }));
      const status = hasOption(method, success_status) ? getOption(method, success_status) : 200;
      return { status, headers: sent, text: JSON.stringify(body), body, code: undefined };
    } catch (error) {
      return refusalOf(ConnectError.from(error));
    }
  };
}

/** Converts an RPC error to the equivalent JSON response. */
function refusalOf(error: ConnectError): Answer {
  const { code, message, details } = plainError(error);
  const { ErrorInfo, BadRequest, PreconditionFailure } = details as Record<string, any>;
  const reason = ErrorInfo.reason as RefusalReason;
  equal(code, REASONS[reason].code);
  const errors: Record<string, string[]> = {};
  const violations = BadRequest?.fieldViolations ?? PreconditionFailure?.violations ?? [];
  for (const { field, subject = field, description } of violations) {
    (errors[subject] ??= []).push(description);
  }
  const body = { message, errors, ...(ErrorInfo.metadata && { metadata: ErrorInfo.metadata }) };
  const { httpStatus: status } = REASONS[reason];
  return { status, headers: error.metadata, text: JSON.stringify(body), body, code: reason };
}
