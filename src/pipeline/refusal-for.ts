import type { Logger } from "pino";
import { Refusal, refuse, unavailable } from "../domain/refusal.ts";
import type { ReceivedCall } from "./call.ts";
import { REFUSAL_STATUS } from "./refusal-status.ts";

/**
 * Turns any error into the refusal to answer with, and notes its code in the call's record. A
 * transient error is UNAVAILABLE; anything unknown is a defect, INTERNAL, logged with its cause.
 */
export type RefusalFor = (error: unknown, call: ReceivedCall) => Refusal;

/**
 * Builds the one place where errors become refusals.
 *
 * @param transientMessage what to tell a caller of an error that passes by itself, as when the
 * database is away; undefined for any other error
 */
export function createRefusalFor(
  transientMessage: (error: unknown) => string | undefined,
  log: Logger,
): RefusalFor {
  function refusalOf(error: unknown, requestId: string): Refusal {
    if (error instanceof Refusal) return error;
    const transient = transientMessage(error);
    if (transient !== undefined) {
      log.warn({ requestId, err: error }, "database unavailable");
      return unavailable(transient, error);
    }
    log.error({ requestId, err: error }, "defect");
    return refuse("INTERNAL", "The service failed; report this with the request id.", {
      cause: error,
    });
  }
  return (error, call) => {
    const refusal = refusalOf(error, call.headers.requestId);
    call.code = REFUSAL_STATUS[refusal.reason].code;
    return refusal;
  };
}
