import { hash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { toBinary, type DescMessage, type Message } from "@bufbuild/protobuf";
import { REASONS } from "../../domain/refusal-reasons.ts";
import type { Refusal } from "../../domain/refusal.ts";
import type { WorkspaceCaller } from "../../pipeline/call.ts";
import { LazyResponse, messageOf } from "../../pipeline/rpc-response.ts";
import { isAnswerLost } from "../../pipeline/stages/simulate.ts";
import type { Pipeline } from "../../pipeline/stages/pipeline.ts";
import { unknownFieldViolations } from "../http/json-route.ts";
import type { Tool } from "./tools.ts";

/** A message of an agent's: the HTTP request that it came in, and whose key that carries. */
export interface AgentRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly caller: WorkspaceCaller;
}

/** A tool's arguments, or what an RPC answers, in the JSON dialect of `/v1`. */
export type JsonObject = Readonly<Record<string, unknown>>;

export type CallOutcome =
  /** With `replayed`, it is the answer to the same call made before. */
  { readonly json: JsonObject; readonly replayed: boolean } | { readonly refusal: Refusal };

/**
 * Calls the RPC of a tool through the pipeline, as the JSON API does: with the limits, the log and the audit
 * of the key. Never rejects; never resolves when the answer is simulated to be lost.
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
        // Names that there are not are refused: agents guess them.
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
            rpcResponse instanceof LazyResponse
              ? rpcResponse.json()
              : tool.encodeJson(messageOf(rpcResponse));
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

/** The same for the same arguments and key, in whatever order they come. */
function keyOf({ method }: Tool, message: Message, { keyId }: WorkspaceCaller): string {
  const args = toBinary<DescMessage>(method.input, message);
  return `mcp-${hash("sha256", Buffer.concat([Buffer.from(`${keyId} ${method.name} `), args]))}`;
}

/** The headers of a request, names and values in turn, with the idempotency key of one call of it. */
function headersWith(rawHeaders: readonly string[], requestId: string, key: unknown): string[] {
  const headers = rawHeaders.flatMap((name, i) =>
    i % 2 === 1 || name.toLowerCase() === "idempotency-key" ? [] : [name, rawHeaders[i + 1]!],
  );
  headers.push("x-request-id", requestId);
  // What is no text is refused as a key of the wrong form.
  if (key !== undefined) headers.push("idempotency-key", typeof key === "string" ? key : "");
  return headers;
}
