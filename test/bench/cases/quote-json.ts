import assert from "node:assert/strict";
import { startOurs, startPeer, type Contestant } from "../contestant.ts";
import type { Server } from "../database.ts";
import { createLoader, type HttpRequests } from "../load/http-load.ts";
import { prepareQuotes } from "../prepare-quotes.ts";
import { interleave } from "../round.ts";
import { SETTINGS } from "../settings.ts";
import { ROUTE } from "../shipments.ts";
import { contestTable } from "../table.ts";

const CONNECTIONS = 64;
const PATH = "/v1/shipments/quote";
const CONNECT_PATH = "/shipments.v1.ShipmentService/QuoteShipment";

/** Complete quotes by JSON: key checked, validated, covered by 3,191 counties, priced. */
export async function quoteJson(server: Server): Promise<string> {
  await using owned = new AsyncDisposableStack();
  const { url, apiKey, environment } = await prepareQuotes(server, "quote_json");
  const contestants = [
    { ...(await startOurs(owned, { DATABASE_URL: url })), path: PATH },
    { ...(await startPeer(owned, "Fastify", "fastify-quote.ts", environment)), path: PATH },
    {
      ...(await startPeer(owned, "connect-node, its JSON", "connect-json-quote.ts", environment)),
      path: CONNECT_PATH,
    },
    {
      ...(await startPeer(owned, "bare node:http, a constant (the limit)", "bare-http.ts")),
      path: PATH,
    },
  ];
  const requests = { method: "POST", apiKey, body: JSON.stringify(ROUTE) } as const;
  await checkAnswers(contestants, requests);
  const loaders = contestants.map((contestant) =>
    createLoader(contestant, { ...requests, path: contestant.path }),
  );
  for (const load of loaders) await load(CONNECTIONS, SETTINGS.seconds);
  const rounds = await interleave(loaders, (load) => load(CONNECTIONS, SETTINGS.seconds));
  const standings = contestants.map(({ name }, i) => ({ name, rounds: rounds[i]! }));
  return contestTable([{ load: `${CONNECTIONS} connections`, standings }]);
}

/** Everybody must come to the same price. */
async function checkAnswers(
  contestants: readonly (Contestant & { readonly path: string })[],
  { apiKey, body }: Omit<HttpRequests, "path">,
): Promise<void> {
  for (const { name, url, path } of contestants) {
    const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
    const response = await fetch(url + path, { method: "POST", headers, body: body! });
    const { covered, total, currency } = (await response.json()) as Record<string, unknown>;
    assert.deepEqual(
      { covered, total, currency },
      { covered: true, total: 12.69, currency: "USD" },
      name,
    );
  }
}
