import { parseTimeout as parseConnect } from "@connectrpc/connect/protocol-connect";
import { parseTimeout as parseGrpc } from "@connectrpc/connect/protocol-grpc";
import { LONGEST_TIMER_MS } from "../../pipeline/deadline.ts";

const TIMEOUTS = [
  ["grpc-timeout", parseGrpc],
  ["connect-timeout-ms", parseConnect],
] as const;

/**
 * Takes a timeout beyond the range of timers out of a request's headers: no call lasts so long, and Connect,
 * which would set a timer for it, would find it passed at once.
 */
export function dropFarTimeout(header: Headers): void {
  for (const [name, parse] of TIMEOUTS) {
    const { timeoutMs = 0 } = parse(header.get(name), LONGEST_TIMER_MS);
    if (timeoutMs > LONGEST_TIMER_MS) header.delete(name);
  }
}
