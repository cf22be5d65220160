import type { Message } from "@bufbuild/protobuf";
import type { Violation } from "../../domain/refusal.ts";
import type { InFlightLimit } from "../bounds/in-flight-limit.ts";
import { readIdempotencyKey } from "../call-headers.ts";
import type { AnyCall } from "../call.ts";
import type { ValidateRequest } from "../request/validate-request.ts";
import type { RpcResponse } from "../rpc-response.ts";
import type { Rpc } from "../rpc.ts";
import { assertBefore, waitUntil } from "./deadline.ts";

/** A request, and what was wrong with it before it was a message. */
export interface DecodedRequest {
  readonly request: Message;
  /** Fields that could not be read. */
  readonly violations?: readonly Violation[];
  /** Fields that there are not, for which the call is refused. */
  readonly unknown?: readonly Violation[];
}

/**
 * Validates a request and runs the RPC's function; gives the response at once where the function does.
 *
 * @throws Refusal FIELD_INVALID, DEADLINE_EXCEEDED, and whatever the function throws
 */
export type Execute = (
  rpc: Rpc,
  decoded: DecodedRequest,
  call: AnyCall,
) => RpcResponse | Promise<RpcResponse>;

/** Begins work whose connections to the database count as an account's. */
export type OnBehalfOf = <T>(account: number | string, work: () => T) => T;

const NO_VIOLATIONS: readonly Violation[] = [];

/** Builds the step that executes calls. */
export function createExecute(options: {
  readonly validatorOf: (rpc: Rpc) => ValidateRequest;
  readonly inFlightLimit: Pick<InFlightLimit, "run">;
  readonly onBehalfOf: OnBehalfOf;
}): Execute {
  const { validatorOf, inFlightLimit, onBehalfOf } = options;
  return (rpc, { request, violations = NO_VIOLATIONS, unknown }, call) => {
    const { account } = call.caller;
    const { headers, deadlineMs } = call.received;
    call.itemViolations = validatorOf(rpc)(request, violations, unknown);
    assertBefore(deadlineMs);
    if (!rpc.readOnly) call.idempotencyKey = readIdempotencyKey(headers.idempotencyKeys);
    const begin = () => {
      // It may have waited for other calls.
      assertBefore(deadlineMs);
      return rpc.run(request, call);
    };
    // Quotes are answered at once, from memory.
    if (rpc.limitClass === "quote") return begin();
    const response = onBehalfOf(account, () => inFlightLimit.run(account, begin));
    const isAwaited = deadlineMs !== undefined && response instanceof Promise;
    return isAwaited ? waitUntil(deadlineMs, response) : response;
  };
}
