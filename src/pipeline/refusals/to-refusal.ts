import { Code } from "@connectrpc/connect";
import type { Logger } from "pino";
import { Refusal, refuse } from "../../domain/refusal.ts";
import type { ReceivedCall } from "../call.ts";
import { REASONS } from "../../domain/refusal-reasons.ts";
import type { Rpc } from "../rpc.ts";

export type ToRefusal = (error: unknown, requestId: string) => Refusal;

/** Converts an error to a refusal and stores it in the call. */
export type RefuseCall = (error: unknown, call: ReceivedCall) => Refusal;

/**
 * Creates the single conversion from errors to refusals. Unknown errors are defects: they are logged and become
 * INTERNAL.
 *
 * @param refusalOf returns the refusal for a transient error, `undefined` for other errors
 */
export function createToRefusal(refusalOf: (error: unknown) => Refusal | undefined, log: Logger): ToRefusal {
  return (error, requestId) => {
    if (error instanceof Refusal) return error;
    const refusal = refusalOf(error);
    if (refusal !== undefined) {
      const isAway = refusal.reason === "UNAVAILABLE";
      log.warn({ requestId, err: error }, isAway ? "database unavailable" : "request too slow");
      return refusal;
    }
    log.error({ requestId, err: error }, "defect");
    return refuse("INTERNAL", { cause: error });
  };
}

/**
 * Creates the conversion for calls. If the method does not declare the reason of the refusal, a defect is logged,
 * because callers rely on the declaration.
 */
export function createRefuseCall(
  toRefusal: ToRefusal,
  rpcs: readonly Pick<Rpc, "name" | "refusalReasons">[],
  log: Logger,
): RefuseCall {
  const declared = new Map(rpcs.map(({ name, refusalReasons }) => [name, refusalReasons]));
  return (error, call) => {
    const refusal = toRefusal(error, call.headers.requestId);
    const { reason } = refusal;
    const { method } = call;
    if (declared.get(method ?? "")?.has(reason) === false) {
      log.error({ requestId: call.headers.requestId, method, reason }, "undeclared refusal");
    }
    call.code = Code[REASONS[reason].code];
    call.refusal = refusal;
    return refusal;
  };
}
