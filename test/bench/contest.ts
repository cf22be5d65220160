/**
 * How a case is measured: its servers are started, each on a database of its own with the same
 * shipments; they are shown to do the same work; then, for each operation and number of clients,
 * every server is put under load once, then every server once more, and so on, so that what
 * disturbs the machine for a while disturbs them alike.
 */
import { createDatabase, restore, type Database, type DatabaseServer } from "./database.ts";
import { ratios, spread, table } from "./figures.ts";
import type { Load, Outcome } from "./load/load.ts";
import { requestOf, type Operation } from "./operations.ts";
import { cpuMicros } from "./process-cost.ts";
import {
  startProduct,
  startWorker,
  type Ports,
  type ServerProcess,
  type Worker,
} from "./processes.ts";
import { PROOF_CALLS, proveSameWork } from "./same-work.ts";
import { SETTINGS } from "./settings.ts";

/** What the cases share. */
export interface Bench {
  readonly databases: DatabaseServer;
  readonly generator: Worker<Load, Outcome>;
}

/** One side of a contest. */
export interface Side {
  readonly name: string;
  /** How many shipments its database begins with; `shipmentsInARound()` if not given. */
  readonly shipments?: number;
  /** Starts its server, or several that share the load. */
  readonly start: (owned: AsyncDisposableStack, database: Database) => Promise<ServerProcess[]>;
  /** Whether it is to be shown to do the same work as the first side. */
  readonly isPeer: boolean;
}

/** Which sides are compared, the first with each of the others, under which loads. */
export interface Contest {
  readonly sides: readonly Side[];
  readonly loads: readonly (readonly [operation: Operation, ...clients: number[]])[];
}

/** The product, on a database with so many shipments, and as many processes as asked for. */
export function ours(name: string, shipments?: number, replicas = 1): Side {
  return {
    name,
    ...(shipments === undefined ? {} : { shipments }),
    isPeer: false,
    start: async (owned, { url }) => {
      const processes: ServerProcess[] = [];
      for (let i = 0; i < replicas; i++) {
        processes.push(await startProduct(owned, { DATABASE_URL: url }));
      }
      return processes;
    },
  };
}

/** One of `servers/`. */
export function peer(name: string, script: string): Side {
  return {
    name,
    isPeer: true,
    async start(owned, { url, apiKey, workspace }) {
      const environment = { DATABASE_URL: url, API_KEY: apiKey, WORKSPACE: String(workspace) };
      const { pid, hello } = await startWorker(owned, `servers/${script}`, environment);
      return [{ pid, ports: hello as Ports }];
    },
  };
}

/** Enough for a round in which each request takes another one. */
export function shipmentsInARound(): number {
  return Math.min(1_000_000, 10_000 + 4_000 * SETTINGS.seconds);
}

/** A side whose server runs. */
export interface Contestant {
  readonly name: string;
  readonly isPeer: boolean;
  readonly database: Database;
  readonly processes: readonly ServerProcess[];
  /** The number of its next request: no two in a case have the same. */
  next: number;
}

/** What one round of load saw. */
export interface Round extends Outcome {
  /** Processor time of the servers for each request, in microseconds; undefined if not known. */
  readonly cpuMicros: number | undefined;
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
  const rows: string[][] = [];
  for (const [operation, ...clientCounts] of loads) {
    const measure = (clients: number) => (contestant: Contestant) =>
      measureRound(bench, contestant, operation, { clients });
    for (const contestant of contestants) {
      if (operation.from !== undefined) await restore(contestant.database, operation.from);
      await measure(Math.min(16, Math.max(...clientCounts)))(contestant);
    }
    for (const clients of clientCounts) {
      const rounds = await interleave(contestants, measure(clients));
      rows.push(...rowsOf(`${operation.name}, ${clients} at once`, contestants, rounds));
    }
  }
  return table(["", "", `${sides[0]!.name} ÷ it`, ...ROUND_COLUMNS], rows);
}

/** Starts a side, on a new database. */
export async function startSide(
  owned: AsyncDisposableStack,
  { databases }: Bench,
  { name, isPeer, shipments = shipmentsInARound(), start }: Side,
): Promise<Contestant> {
  const database = await createDatabase(owned, databases, shipments);
  return { name, isPeer, database, processes: await start(owned, database), next: PROOF_CALLS };
}

/** Does something with each once, then with each once more, and so on: the rounds of each. */
export async function interleave<C, R>(
  contestants: readonly C[],
  measure: (contestant: C) => Promise<R>,
): Promise<R[][]> {
  const rounds = contestants.map((): R[] => []);
  for (let round = 0; round < SETTINGS.rounds; round++) {
    for (const [i, contestant] of contestants.entries()) {
      rounds[i]!.push(await measure(contestant));
    }
  }
  return rounds;
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
  load: Pick<Load, "clients" | "requestsPerSecond"> & { readonly seconds?: number },
): Promise<Round> {
  const { processes, database } = contestant;
  const request = requestOf(operation, database.apiKey);
  const usedMicros = () => sum(processes.map(({ pid }) => cpuMicros(pid)));
  const before = usedMicros();
  const outcome = await generator.ask({
    seconds: SETTINGS.seconds,
    ...load,
    request,
    ports: processes.map(({ ports }) => (operation.grpc === undefined ? ports.http : ports.grpc)),
    first: contestant.next,
    shipments: database.shipments,
  });
  const used = usedMicros() - before;
  contestant.next += outcome.issued;
  if (outcome.fault !== undefined) {
    throw new Error(`${contestant.name}, ${operation.name}: ${outcome.fault}`);
  }
  if (operation.from !== undefined) await restore(database, operation.from);
  return { ...outcome, cpuMicros: Number.isNaN(used) ? undefined : used / outcome.issued };
}

const ROUND_COLUMNS = ["requests/s", "median, ms", "p99, ms", "CPU, µs"];

function rowsOf(
  load: string,
  contestants: readonly Contestant[],
  rounds: readonly (readonly Round[])[],
): string[][] {
  const rates = rounds.map((of) => of.map((round) => round.requestsPerSecond));
  return contestants.map(({ name }, i) => [
    i === 0 ? load : "",
    name,
    i === 0 ? "" : spread(ratios(rates[0]!, rates[i]!), 2),
    spread(rates[i]!, 0),
    spread(
      rounds[i]!.map((round) => round.medianMs),
      2,
    ),
    spread(
      rounds[i]!.map((round) => round.p99Ms),
      2,
    ),
    spread(
      rounds[i]!.map((round) => round.cpuMicros),
      0,
    ),
  ]);
}

function sum(values: readonly (number | undefined)[]): number {
  return values.reduce<number>((total, value) => total + (value ?? Number.NaN), 0);
}
