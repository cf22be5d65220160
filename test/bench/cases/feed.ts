import { measureAll, measureRound, startSide, type Bench, type Contestant } from "../contest.ts";
import { quantile, spreads, table } from "../figures.ts";
import { create } from "../operations.ts";
import { ours } from "../sides.ts";

/** Load with enough clients that one is always free when a booking is due. */
const RATE = { clients: 128, requestsPerSecond: 1_000 };

/** Measures the delay between a booking's response and its event on a stream, in one workspace. */
export async function feed(bench: Bench): Promise<string> {
  await using owned = new AsyncDisposableStack();
  const contestants: Contestant[] = [];
  for (const side of [ours("one replica"), ours("two replicas", { replicas: 2 })]) {
    contestants.push(await startSide(owned, bench, side));
  }
  const rounds = await measureAll(contestants, async (contestant) => {
    const { database, processes } = contestant;
    // Watches the last replica. If there are two, it handles half of the bookings.
    const watched = { port: processes.at(-1)!.ports.grpc, apiKey: database.accounts[0]!.apiKey };
    const round = await measureRound(bench, contestant, create, { ...RATE, feed: watched });
    const [lagMs, lagP99Ms] = [0.5, 0.99].map((share) => quantile(round.feedLagsMs, share));
    return { ...round, lagMs, lagP99Ms };
  });
  const figures = { requestsPerSecond: 0, medianMs: 2, p99Ms: 2, lagMs: 2, lagP99Ms: 2 };
  const rows = contestants.map(({ name }, i) => [name, ...spreads(rounds[i]!, figures)]);
  const answers = ["answers/s", "median, ms", "p99, ms"];
  return `Bookings are offered at ${RATE.requestsPerSecond.toLocaleString("en")} a second.

${table(["", ...answers, "feed's median lag, ms", "p99, ms"], rows)}`;
}
