import type { Message } from "@bufbuild/protobuf";
import type { Violation } from "../../domain/refusal.ts";
import type { RpcResponse } from "../rpc-response.ts";
import type { AnyCall } from "../call.ts";
import { deadlineError, LONGEST_TIMER_MS } from "./deadline.ts";
import { readIdempotencyKey } from "../request/idempotency-key.ts";
import type { Places } from "../bounds/in-flight-limit.ts";
import type { Rpc } from "../rpc.ts";
import type { ValidateRequest } from "../request/validate-request.ts";

/**
 * Validates a request and runs the RPC's function; gives the answer at once where the function does.
 *
 * @param violations what the server found wrong while it decoded the request
 * @param unknown what the request has that there is not, and is refused for
 * @throws Refusal FIELD_INVALID, DEADLINE_EXCEEDED, and whatever the function throws
 */
export type Execute = (
  rpc: Rpc,
  request: Message,
  call: AnyCall,
  violations?: readonly Violation[],
  unknown?: readonly Violation[],
) => RpcResponse | Promise<RpcResponse>;

/** Begins work whose connections to the database count as an account's. */
export type OnBehalfOf = <T>(account: number | string, work: () => T) => T;

const NO_VIOLATIONS: readonly Violation[] = [];

/** Builds the step that executes calls. */
export function createExecute(options: {
  readonly validatorOf: (rpc: Rpc) => ValidateRequest;
  /** Of work that has to be waited for, which may go on after its caller has left. */
  readonly places: Omit<Places, "assertSome">;
  readonly onBehalfOf: OnBehalfOf;
}): Execute {
  const { validatorOf, places, onBehalfOf } = options;
  return (rpc, request, call, violations = NO_VIOLATIONS, unknown = NO_VIOLATIONS) => {
    call.itemViolations = validatorOf(rpc)(request, violations, unknown);
    assertBeforeDeadline(call);
    if (!rpc.readOnly) call.idempotencyKey = readIdempotencyKey(call.headers.idempotencyKeys);
    // Quotes are answered from memory.
    const isQuote = rpc.limitClass === "quote";
    const run = () => runInPlace(rpc, request, call, places);
    const answer = isQuote ? run() : onBehalfOf(call.caller.account, run);
    if (!(answer instanceof Promise)) return answer;
    return call.deadlineMs === undefined ? answer : before(call.deadlineMs, answer);
  };
}

/** Runs the function, now or when other calls of the caller have ended. */
function runInPlace(
  rpc: Rpc,
  request: Message,
  call: AnyCall,
  places: Omit<Places, "assertSome">,
): RpcResponse | Promise<RpcResponse> {
  const { account } = call.caller;
  if (rpc.limitClass !== "quote" && !places.has(account)) {
    return places.runLater(account, () => {
      assertBeforeDeadline(call);
      return rpc.run(request, call);
    });
  }
  const answer = rpc.run(request, call);
  if (answer instanceof Promise) places.track(account, answer);
  return answer;
}

function assertBeforeDeadline({ deadlineMs }: AnyCall): void {
  if (deadlineMs !== undefined && deadlineMs <= performance.now()) throw deadlineError();
}

/** Waits for an answer until the deadline. The work goes on after it; its answer is dropped. */
async function before<T>(deadlineMs: number, answer: Promise<T>): Promise<T> {
  const { promise: passed, reject } = Promise.withResolvers<never>();
  const leftMs = Math.max(0, deadlineMs - performance.now());
  const timer = setTimeout(() => reject(deadlineError()), Math.min(leftMs, LONGEST_TIMER_MS));
  answer.catch(() => undefined);
  try {
    return await Promise.race([answer, passed]);
  } finally {
    clearTimeout(timer);
  }
}
