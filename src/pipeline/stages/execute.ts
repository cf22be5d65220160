import type { Message } from "@bufbuild/protobuf";
import type { InFlightLimit } from "../bounds/in-flight-limit.ts";
import { readIdempotencyKey } from "../call-headers.ts";
import type { AnyCall, Decoding } from "../call.ts";
import type { ValidateRequest } from "../request/validate-request.ts";
import type { RpcResponse } from "../rpc-response.ts";
import type { Rpc } from "../rpc.ts";
import { assertBefore, waitUntil } from "./deadline.ts";

export interface DecodedRequest extends Decoding {
  readonly request: Message;
}

/** Validates a request and runs the RPC's function. Synchronous if the function is synchronous. */
export type Execute = (rpc: Rpc, decoded: DecodedRequest, call: AnyCall) => RpcResponse | Promise<RpcResponse>;

/** Starts work whose database connections count toward an account's share. */
export type OnBehalfOf = <T>(account: number | string, work: () => T) => T;

const NO_FIELDS: readonly string[] = [];

export function createExecute(options: {
  readonly validatorOf: (rpc: Rpc) => ValidateRequest;
  readonly inFlightLimit: Pick<InFlightLimit, "run">;
  readonly onBehalfOf: OnBehalfOf;
}): Execute {
  const { validatorOf, inFlightLimit, onBehalfOf } = options;
  return (rpc, decoded, call) => {
    const { request } = decoded;
    const { account } = call.caller;
    const { headers, deadlineMs } = call.received;
    call.received.decoded = { method: rpc.method, request };
    call.itemViolations = validatorOf(rpc)(request, decoded);
    call.unknownFields = decoded.unknownFields ?? NO_FIELDS;
    assertBefore(deadlineMs);
    if (!rpc.readOnly && rpc.audience !== "person") {
      call.idempotencyKey = readIdempotencyKey(headers.idempotencyKeys);
    }
    const begin = () => {
      // The deadline may have passed while the call was waiting for other calls.
      assertBefore(deadlineMs);
      return rpc.run(request, call);
    };
    // Quotes are computed synchronously from memory.
    if (rpc.limitClass === "quote") return begin();
    const response = onBehalfOf(account, () => inFlightLimit.run(account, begin));
    const isAwaited = deadlineMs !== undefined && response instanceof Promise;
    return isAwaited ? waitUntil(deadlineMs, response) : response;
  };
}
