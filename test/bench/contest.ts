/**
 * How a case is measured: its servers are started, each on a database of its own with the same
 * shipments; they are shown to do the same work; then, for each operation and number of clients,
 * every server is put under load once, then every server once more, and so on, so that what
 * disturbs the machine for a while disturbs them alike. After each round, what it wrote is taken
 * back.
 */
import { createDatabase, restore, type Database, type DatabaseServer } from "./database.ts";
import { ratios, spread, spreads, table } from "./figures.ts";
import type { Load, Outcome } from "./load/load.ts";
import { isGrpc, requestOf, type Operation } from "./operations.ts";
import { cpuMicros } from "./process-cost.ts";
import type { ServerProcess, Worker } from "./processes.ts";
import { PROOF_CALLS, proveSameWork } from "./same-work.ts";
import { SETTINGS } from "./settings.ts";
import type { Side } from "./sides.ts";

/** What the cases share. */
export interface Bench {
  readonly databases: DatabaseServer;
  readonly generator: Worker<Load, Outcome>;
}

/** A side whose server runs. */
export interface Contestant extends Side {
  readonly database: Database;
  readonly processes: readonly ServerProcess[];
  /** The number of its next request: no two in a case have the same. */
  next: number;
}

/** Starts a side, on a new database. */
export async function startSide(
  owned: AsyncDisposableStack,
  { databases }: Bench,
  side: Side,
): Promise<Contestant> {
  const database = await createDatabase(owned, databases, side);
  return { ...side, database, processes: await side.start(owned, database), next: PROOF_CALLS };
}

/** Which sides are compared, the first with each of the others, under which loads. */
export interface Contest {
  readonly sides: readonly Side[];
  readonly loads: readonly (readonly [operation: Operation, ...clients: number[]])[];
}

/** Measures a contest, and gives its table. */
export async function measureContest(bench: Bench, { sides, loads }: Contest): Promise<string> {
  await using owned = new AsyncDisposableStack();
  const contestants: Contestant[] = [];
  for (const side of sides) contestants.push(await startSide(owned, bench, side));
  await proveSameWork(
    contestants,
    loads.map(([operation]) => operation),
  );
  return await measureLoads(bench, contestants, loads);
}

/** Puts contestants under loads, and gives the table that compares them. */
export async function measureLoads(
  bench: Bench,
  contestants: readonly Contestant[],
  loads: Contest["loads"],
): Promise<string> {
  const rows: string[][] = [];
  for (const [operation, ...clientCounts] of loads) {
    for (const contestant of contestants) {
      if (operation.from !== undefined) await restore(contestant.database, operation.from);
      const clients = Math.min(16, Math.max(...clientCounts));
      await measureRound(bench, contestant, operation, { clients });
    }
    for (const clients of clientCounts) {
      const rounds = await interleave(contestants, (contestant) =>
        measureRound(bench, contestant, operation, { clients }),
      );
      rows.push(...rowsOf(`${operation.name}, ${clients} at once`, contestants, rounds));
    }
  }
  return table(["", "", `${contestants[0]!.name} ÷ it`, ...COLUMNS], rows);
}

/** Measures each once to warm up, then once, then once more, and so on: the rounds of each. */
export async function measureAll<T, R>(
  all: readonly T[],
  measure: (one: T) => Promise<R>,
): Promise<R[][]> {
  for (const one of all) await measure(one);
  return interleave(all, measure);
}

async function interleave<T, R>(
  all: readonly T[],
  measure: (one: T) => Promise<R>,
): Promise<R[][]> {
  const rounds = all.map((): R[] => []);
  for (let round = 0; round < SETTINGS.rounds; round++) {
    for (const [i, one] of all.entries()) rounds[i]!.push(await measure(one));
  }
  return rounds;
}

/** What one round of load saw. */
export interface Round extends Outcome {
  /** Processor time of the servers for each request, in microseconds; undefined if not known. */
  readonly cpuMicros: number | undefined;
}

/**
 * Puts load on a contestant, and takes back what it wrote.
 *
 * @throws Error when any request was not answered as it should be
 */
export async function measureRound(
  { generator }: Bench,
  contestant: Contestant,
  operation: Operation,
  load: Pick<Load, "clients" | "requestsPerSecond" | "feed"> & { readonly seconds?: number },
): Promise<Round> {
  const { processes, database } = contestant;
  const protocol = isGrpc(operation.call) ? "grpc" : "http";
  const used = () => processes.reduce((sum, { pid }) => sum + (cpuMicros(pid) ?? Number.NaN), 0);
  const before = used();
  const outcome = await generator.ask({
    seconds: SETTINGS.seconds,
    ...load,
    request: requestOf(operation, database.accounts),
    ports: processes.map(({ ports }) => ports[protocol]),
    first: contestant.next,
    shipments: database.shipments,
  });
  const cpu = (used() - before) / outcome.issued;
  contestant.next += outcome.issued;
  if (outcome.fault !== undefined) {
    throw new Error(`${contestant.name}, ${operation.name}: ${outcome.fault}`);
  }
  if (operation.from !== undefined) await restore(database, operation.from);
  return { ...outcome, cpuMicros: Number.isNaN(cpu) ? undefined : cpu };
}

const FIGURES = { requestsPerSecond: 0, medianMs: 2, p99Ms: 2, cpuMicros: 0 };
const COLUMNS = ["requests/s", "median, ms", "p99, ms", "CPU, µs"];

function rowsOf(
  load: string,
  contestants: readonly Contestant[],
  rounds: readonly (readonly Round[])[],
): string[][] {
  const [first] = rounds.map(ratesOf);
  return rounds.map((of, i) => [
    i === 0 ? load : "",
    contestants[i]!.name,
    i === 0 ? "" : spread(ratios(first!, ratesOf(of)), 2),
    ...spreads(of, FIGURES),
  ]);
}

function ratesOf(rounds: readonly Round[]): number[] {
  return rounds.map((round) => round.requestsPerSecond);
}
