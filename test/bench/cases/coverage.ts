import { measureAll } from "../contest.ts";
import { ratios, spread, spreads, table } from "../figures.ts";
import { startWorker } from "../processes.ts";

/** What one round of look-ups saw. */
export interface LookUps {
  readonly perSecond: number;
  /** Of look-ups timed one by one, in microseconds. */
  readonly medianMicros: number;
  readonly p99Micros: number;
}

const ZONE_COUNTS = [10, 1_000, 10_000, 100_000];

/** Look-ups of points among zones of 30 corners, which cover about half of them. */
export async function coverage(): Promise<string> {
  await using owned = new AsyncDisposableStack();
  const worker = await startWorker<{ zones: number }, LookUps>(owned, "cases/coverage-process.ts");
  const lookUp = (zones: number) => worker.ask({ zones });
  const rounds = await measureAll(ZONE_COUNTS, lookUp);
  const rows = ZONE_COUNTS.map((zones, i) => [
    zones.toLocaleString("en"),
    ...spreads(rounds[i]!, { perSecond: 0, medianMicros: 2, p99Micros: 2 }),
  ]);
  const [, few, , many] = rounds.map((of) => of.map((it) => it.medianMicros));
  return `${table(["zones", "look-ups/s", "median, µs", "p99, µs"], rows)}

A look-up takes ${spread(ratios(many!, few!), 2)} times as long at 100,000 zones as at 1,000.`;
}
