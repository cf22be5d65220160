import { hash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { clone, toBinary, type DescMessage, type Message } from "@bufbuild/protobuf";
import { REASONS } from "../../domain/refusal-reasons.ts";
import type { Refusal } from "../../domain/refusal.ts";
import type { WorkspaceCaller } from "../../pipeline/call.ts";
import { LazyResponse, messageOf } from "../../pipeline/rpc-response.ts";
import { isAnswerLost } from "../../pipeline/stages/simulate.ts";
import type { Pipeline } from "../../pipeline/stages/pipeline.ts";
import { unknownFieldViolations } from "../http/json-route.ts";
import type { JsonObject } from "./tool-result.ts";
import type { Tool } from "./tools.ts";

/** A message from an agent: the HTTP request and the key's workspace. */
export interface AgentRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly caller: WorkspaceCaller;
}

export type CallOutcome =
  /** `replayed` is true if this is the stored response of an earlier call. */
  { readonly json: JsonObject; readonly replayed: boolean } | { readonly refusal: Refusal };

/**
 * Calls a tool's RPC through the pipeline, like the JSON API, with the limits, log and audit entries of the key. Never
 * rejects. Never resolves if the loss of the response is simulated.
 */
export type CallRpc = (tool: Tool, args: JsonObject, from: AgentRequest) => Promise<CallOutcome>;

export function createCallRpc(pipeline: Pipeline): CallRpc {
  return (tool, { idempotency_key: key, ...args }, from) => {
    const { request, response, requestId } = from;
    const { request: message, violations, unknown } = tool.decodeJson(args);
    const ownKey = key ?? (tool.isOnce ? keyOf(tool, message, from.caller) : undefined);
    const rawHeaders = headersWith(request.rawHeaders, requestId, ownKey);
    const call = pipeline.receive(rawHeaders, request.socket);
    call.method = tool.rpc.name;
    const finish = (status: number) => {
      if (!call.hasEnded) pipeline.finish(call, status);
    };
    response.once("close", () => finish(0));
    return new Promise((resolve) => {
      pipeline.serveUnary(tool.rpc, call, {
        // Unknown names are refused, because agents guess names.
        read: (received) =>
          received(() => ({
            request: message,
            violations,
            unknown: unknownFieldViolations(tool.rpc.method.input, unknown),
          })),
        isGone: () => response.destroyed,
        respond(rpcResponse, admitted) {
          if (isAnswerLost(admitted)) return void request.socket.destroy();
          const json =
            rpcResponse instanceof LazyResponse ? rpcResponse.json() : tool.encodeJson(messageOf(rpcResponse));
          finish(200);
          resolve({ json: json as JsonObject, replayed: admitted.replayed });
        },
        refuse(refusal) {
          finish(REASONS[refusal.reason].httpStatus);
          resolve({ refusal });
        },
      });
    });
  };
}

/**
 * Returns an idempotency key that is the same for equal arguments and API keys. The order of the arguments and of map
 * entries does not matter.
 */
function keyOf({ method }: Tool, message: Message, { keyId }: WorkspaceCaller): string {
  const args = toBinary<DescMessage>(method.input, withSortedMaps(method.input, message));
  return `mcp-${hash("sha256", Buffer.concat([Buffer.from(`${keyId} ${method.name} `), args]))}`;
}

function withSortedMaps(input: DescMessage, message: Message): Message {
  const sorted = clone(input, message) as Message & Record<string, unknown>;
  for (const { fieldKind, localName } of input.fields) {
    if (fieldKind !== "map") continue;
    const entries = Object.entries(sorted[localName] as object);
    sorted[localName] = Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }
  return sorted;
}

/** Returns the request headers with the idempotency key of one call, as alternating names and values. */
function headersWith(rawHeaders: readonly string[], requestId: string, key: unknown): string[] {
  const headers = rawHeaders.flatMap((name, i) =>
    i % 2 === 1 || name.toLowerCase() === "idempotency-key" ? [] : [name, rawHeaders[i + 1]!],
  );
  headers.push("x-request-id", requestId);
  // A value that is not text is sent as an empty key, which is refused.
  if (key !== undefined) headers.push("idempotency-key", typeof key === "string" ? key : "");
  return headers;
}
