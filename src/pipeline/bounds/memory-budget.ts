import { unavailable } from "../../domain/refusal.ts";
import type { ReceivedCall } from "../call.ts";

/** Limits the memory for large requests or responses of a process. `what` names them in the error. */
export function createMemoryBudget(maxBytes: number, what: string) {
  const bytesOf = new Map<ReceivedCall, number>();
  let reserved = 0;
  return {
    /**
     * Reserves memory for a call until `release`.
     *
     * @throws Refusal UNAVAILABLE if the limit would be exceeded
     */
    reserve(call: ReceivedCall, bytes: number): void {
      if (reserved + bytes > maxBytes) {
        throw unavailable(`Too many large ${what} are in flight. Try again in a moment.`);
      }
      reserved += bytes;
      bytesOf.set(call, (bytesOf.get(call) ?? 0) + bytes);
    },
    release(call: ReceivedCall): void {
      reserved -= bytesOf.get(call) ?? 0;
      bytesOf.delete(call);
    },
    reservedBytes: () => reserved,
  };
}
