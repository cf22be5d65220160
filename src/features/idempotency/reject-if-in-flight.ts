import type { Call } from "../../pipeline/call.ts";
import { refuseInUse } from "./stored-responses.ts";

/**
 * Keeps calls with one idempotency key apart that could come to share a transaction, in which the
 * database's lock on the key would not.
 *
 * @returns does the work of a call
 * @throws Refusal IDEMPOTENCY_KEY_IN_USE while the work of another call with the key is not done
 */
export function createInFlightKeys(): <T>(call: Call, work: () => Promise<T>) => Promise<T> {
  const underWay = new Set<string>();
  return async ({ caller, idempotencyKey }, work) => {
    if (idempotencyKey === undefined) return work();
    const key = `${caller.workspaceId} ${idempotencyKey}`;
    if (underWay.has(key)) throw refuseInUse();
    underWay.add(key);
    try {
      return await work();
    } finally {
      underWay.delete(key);
    }
  };
}
