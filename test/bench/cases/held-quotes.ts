import { measureAll, measureRound, startSide, type Bench } from "../contest.ts";
import { ratios, spread, spreads, table } from "../figures.ts";
import { heldQuoteGrpc, heldQuoteJson, quoteGrpc, quoteJson } from "../operations.ts";
import { OURS } from "../sides.ts";

const CLIENTS = 64;

/** What each is compared with, by how it is called. */
const PAIRS = {
  JSON: [heldQuoteJson, quoteJson],
  gRPC: [heldQuoteGrpc, quoteGrpc],
} as const;

/** Quotes with an id, which are sealed and broken down, beside those without. */
export async function heldQuotes(bench: Bench): Promise<string> {
  await using owned = new AsyncDisposableStack();
  const product = await startSide(owned, bench, OURS);
  const rows: string[][] = [];
  for (const [name, pair] of Object.entries(PAIRS)) {
    const rounds = await measureAll(pair, (operation) =>
      measureRound(bench, product, operation, { clients: CLIENTS }),
    );
    const [withId, without] = rounds.map((of) => of.map((it) => it.requestsPerSecond));
    const figures = { requestsPerSecond: 0, medianMs: 2, p99Ms: 2, cpuMicros: 0 } as const;
    rows.push(
      [`${name}, ${CLIENTS} at once`, pair[0].name, "", ...spreads(rounds[0]!, figures)],
      ["", pair[1].name, spread(ratios(withId!, without!), 2), ...spreads(rounds[1]!, figures)],
    );
  }
  return table(["", "", "with an id ÷ it", "requests/s", "median, ms", "p99, ms", "CPU, µs"], rows);
}
