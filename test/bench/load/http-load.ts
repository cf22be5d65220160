import type { Contestant } from "../contestant.ts";
import { cpuMicros } from "../process-cost.ts";
import type { Round } from "../round.ts";
import { isInstalled } from "../run-command.ts";
import { runAutocannon } from "./autocannon.ts";
import { runWrk } from "./wrk.ts";

/** What the requests of a load are. */
export interface HttpRequests {
  readonly method: "GET" | "POST";
  /** May hold `{shipment}`: the reference of another shipment in each request, see `shipmentName`. */
  readonly path: string;
  /**
   * May hold `{customer}`: in every second request one of the 100 known customers' numbers, in the
   * others a number that was never used before.
   */
  readonly body?: string;
  readonly apiKey: string;
  /** How many shipments there are to name, after which they begin anew. */
  readonly shipments?: number;
}

/** How a load is put on a server. */
export interface HttpLoad extends HttpRequests {
  readonly url: string;
  readonly connections: number;
  readonly seconds: number;
  /** The number of the first request, from which what varies in it is made. */
  readonly first: number;
}

/** What a load generator says of a round. */
export interface Outcome extends Round {
  readonly failed: number;
  /** How many requests were made, answered or not. */
  readonly issued: number;
}

/** Puts load on one server, again and again. */
export type Loader = (connections: number, seconds: number) => Promise<Round>;

/**
 * Prepares load on a contestant, which comes from another process: from wrk where it is installed,
 * since that takes the least of the machine for itself, else from autocannon. No two requests of a
 * loader, in whichever round, have the same number.
 *
 * @returns what measures a round; it throws when any request failed
 */
export function createLoader(contestant: Contestant, requests: HttpRequests): Loader {
  const run = isInstalled("wrk") ? runWrk : runAutocannon;
  const { url, name, pid } = contestant;
  let first = 0;
  return async (connections, seconds) => {
    const before = cpuMicros(pid);
    const { failed, issued, ...round } = await run({
      ...requests,
      url,
      connections,
      seconds,
      first,
    });
    const after = cpuMicros(pid);
    first += issued;
    if (failed > 0 || round.requests === 0) {
      throw new Error(`${name} failed ${failed} requests to ${requests.path}`);
    }
    const cpu = before === undefined ? undefined : (after! - before) / round.requests;
    return { ...round, cpuMicros: cpu };
  };
}
