import type { RepeatableCall } from "../../pipeline/call.ts";
import { keyInUseError } from "./stored-responses.ts";

/**
 * Rejects a call while another call with its idempotency key is in flight in this process. Needed
 * where calls share a transaction: the database's lock on the key works between transactions only.
 *
 * @returns runs the work of a call
 * @throws Refusal IDEMPOTENCY_KEY_IN_USE, and whatever the work throws
 */
export function createRejectIfInFlight(): <T>(
  call: RepeatableCall,
  work: () => Promise<T>,
) => Promise<T> {
  const inFlight = new Set<string>();
  return async ({ caller, idempotencyKey }, work) => {
    if (idempotencyKey === undefined) return work();
    const key = `${caller.account} ${idempotencyKey}`;
    if (inFlight.has(key)) throw keyInUseError();
    inFlight.add(key);
    try {
      return await work();
    } finally {
      inFlight.delete(key);
    }
  };
}
