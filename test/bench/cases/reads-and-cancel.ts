import type { Server } from "../database.ts";
import { createLoader, type HttpRequests } from "../load/http-load.ts";
import { interleave } from "../round.ts";
import { SETTINGS } from "../settings.ts";
import { startBookers } from "../start-bookers.ts";
import { contestTable, type Contest } from "../table.ts";

const CLIENTS = [1, 16, 64];
const WARM_UP_CLIENTS = 16;
/** How many shipments can be cancelled each second, on average over these numbers of clients. */
const CANCELS_PER_SECOND = 4_000;
const FEWEST_SHIPMENTS = 10_000;

type Requests = Omit<HttpRequests, "apiKey">;

/** Get and list at first, among shipments that are all pending; then each is cancelled once. */
export async function readsAndCancel(server: Server): Promise<string> {
  await using owned = new AsyncDisposableStack();
  const seconds = (CLIENTS.length * SETTINGS.rounds + 1) * SETTINGS.seconds;
  const shipments = Math.min(1_000_000, FEWEST_SHIPMENTS + seconds * CANCELS_PER_SECOND);
  const bookers = await startBookers(owned, server, "reads", shipments);
  const cases: readonly (readonly [name: string, Requests])[] = [
    ["get", { method: "GET", path: "/v1/shipments/{shipment}", shipments }],
    ["list, 25 a page", { method: "GET", path: "/v1/shipments" }],
    ["cancel", { method: "POST", path: "/v1/shipments/{shipment}/cancel" }],
  ];
  const contests: Contest[] = [];
  for (const [name, requests] of cases) {
    const loaders = bookers.map(({ contestant, database }) =>
      createLoader(contestant, { ...requests, apiKey: database.apiKey }),
    );
    for (const load of loaders) await load(WARM_UP_CLIENTS, SETTINGS.seconds);
    for (const clients of CLIENTS) {
      const rounds = await interleave(loaders, (load) => load(clients, SETTINGS.seconds));
      const standings = bookers.map((it, i) => ({ name: it.contestant.name, rounds: rounds[i]! }));
      contests.push({ load: `${name}, ${clients} at once`, standings });
    }
  }
  return contestTable(contests);
}
