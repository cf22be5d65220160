import { setTimeout as sleep } from "node:timers/promises";
import type { Contestant } from "./contestant.ts";
import { interrupted } from "./interruption.ts";
import { runAutocannon } from "./load/autocannon.ts";
import { runH2load } from "./load/h2load.ts";
import { createLoader } from "./load/http-load.ts";
import { residentMiB } from "./process-cost.ts";
import type { Round } from "./round.ts";
import { isInstalled } from "./run-command.ts";
import { SETTINGS } from "./settings.ts";
import { ROUTE } from "./shipments.ts";

const CONNECTIONS = 8;
const PATH = "/v1/shipments/quote";
const BODY = JSON.stringify(ROUTE);

/** What a long, steady load of quotes showed. */
export interface Soak {
  readonly round: Round;
  /** Memory after a fifth of the time, in MiB; undefined if not known. */
  readonly earlyMiB: number | undefined;
  /** Memory just before the end. */
  readonly lateMiB: number | undefined;
  /** How the load generator keeps the rate. */
  readonly way: string;
}

/** Finds out how many quotes a second a contestant gives at most, and asks it for half as many. */
export async function soak(contestant: Contestant, apiKey: string, folder: string): Promise<Soak> {
  const load = createLoader(contestant, { method: "POST", path: PATH, body: BODY, apiKey });
  await load(CONNECTIONS, SETTINGS.seconds);
  const { requestsPerSecond } = await load(CONNECTIONS, SETTINGS.seconds);
  const steady = steadyLoad(contestant, apiKey, Math.round(requestsPerSecond / 2), folder);
  const [round, earlyMiB, lateMiB] = await Promise.all([
    steady.run(),
    memoryAfter(contestant, SETTINGS.soakSeconds / 5),
    memoryAfter(contestant, SETTINGS.soakSeconds - 1),
  ]);
  return { round, earlyMiB, lateMiB, way: steady.way };
}

async function memoryAfter({ pid }: Contestant, seconds: number): Promise<number | undefined> {
  await sleep(seconds * 1_000, undefined, { signal: interrupted });
  return residentMiB(pid);
}

/** wrk knows no rate; h2load spreads requests over each second, autocannon does not. */
function steadyLoad(
  contestant: Contestant,
  apiKey: string,
  requestsPerSecond: number,
  folder: string,
): { way: string; run: () => Promise<Round> } {
  const seconds = SETTINGS.soakSeconds;
  const shared = { connections: CONNECTIONS, seconds, requestsPerSecond };
  const url = contestant.url;
  if (isInstalled("h2load")) {
    return {
      way: `${CONNECTIONS} connections, evenly (h2load)`,
      async run() {
        const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
        const answerBytes = await sizeOfAnswer(url + PATH, headers);
        return runH2load(contestant, {
          ...shared,
          url: url + PATH,
          protocol: "HTTP/1.1",
          headers,
          body: Buffer.from(BODY),
          answerBytes,
          streams: 1,
          folder,
        });
      },
    };
  }
  return {
    way: `${CONNECTIONS} connections, each second's at its beginning (autocannon, as h2load is not installed)`,
    async run() {
      const request = { method: "POST", path: PATH, body: BODY } as const;
      const outcome = await runAutocannon({ ...shared, ...request, url, apiKey, first: 0 });
      if (outcome.failed > 0) throw new Error(`${contestant.name} failed ${outcome.failed} quotes`);
      return outcome;
    },
  };
}

async function sizeOfAnswer(url: string, headers: Record<string, string>): Promise<number> {
  const response = await fetch(url, { method: "POST", headers, body: BODY });
  return (await response.arrayBuffer()).byteLength;
}
