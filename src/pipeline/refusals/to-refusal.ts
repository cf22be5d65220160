import { Code } from "@connectrpc/connect";
import type { Logger } from "pino";
import { Refusal, refuse, unavailable } from "../../domain/refusal.ts";
import type { ReceivedCall } from "../call.ts";
import { REASONS } from "../../domain/refusal-reasons.ts";
import type { Rpc } from "../rpc.ts";

export type ToRefusal = (error: unknown, requestId: string) => Refusal;

/** Tells which refusal to answer a call with, and notes it in the call's record. */
export type RefuseCall = (error: unknown, call: ReceivedCall) => Refusal;

/**
 * Builds the one place where errors become refusals. A transient error is UNAVAILABLE; anything unknown
 * is a defect, INTERNAL, logged with its cause.
 */
export function createToRefusal(
  transientMessage: (error: unknown) => string | undefined,
  log: Logger,
): ToRefusal {
  return (error, requestId) => {
    if (error instanceof Refusal) return error;
    const transient = transientMessage(error);
    if (transient !== undefined) {
      log.warn({ requestId, err: error }, "database unavailable");
      return unavailable(transient, error);
    }
    log.error({ requestId, err: error }, "defect");
    return refuse("INTERNAL", { cause: error });
  };
}

/**
 * Builds the same for calls. A reason that the method does not declare is a defect of its definition,
 * which is logged: callers rely on what is declared.
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
