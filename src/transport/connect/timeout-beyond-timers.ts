import { parseTimeout as parseConnect } from "@connectrpc/connect/protocol-connect";
import { parseTimeout as parseGrpc } from "@connectrpc/connect/protocol-grpc";
import { LONGEST_TIMER_MS } from "../../pipeline/stages/deadline.ts";

const TIMEOUTS = [
  ["grpc-timeout", parseGrpc],
  ["connect-timeout-ms", parseConnect],
] as const;

/**
 * Takes a timeout beyond the range of timers out of a request's headers: no call lasts so long, and
 * Connect, which would set a timer for it, would find it passed at once. Malformed ones stay, to be
 * refused.
 */
export function dropTimeoutBeyondTimers(header: Headers): void {
  for (const [name, parse] of TIMEOUTS) {
    // Undefined where there is none or it is malformed; one beyond the bound comes with an error.
    const { timeoutMs = 0 } = parse(header.get(name), LONGEST_TIMER_MS);
    if (timeoutMs > LONGEST_TIMER_MS) header.delete(name);
  }
}
