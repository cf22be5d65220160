/**
 * Measurement of a case: its servers start, each with its own database of the same shipments, and are checked to do
 * the same work. Then, for each operation and number of clients, all servers are put under load in turn, repeatedly,
 * so that disturbances affect them equally. After each round, its writes are reverted.
 */
import { createDatabase, postmasterOf, restore } from "./database.ts";
import type { Database, DatabaseServer } from "./database.ts";
import { ratios, spread, table } from "./figures.ts";
import type { Load, Outcome } from "./load/load.ts";
import { isGrpc, requestOf, type Operation } from "./operations.ts";
import { cpuMicros, familyCpuMicros } from "./process-cost.ts";
import type { ServerProcess, Worker } from "./processes.ts";
import { PROOF_CALLS, proveSameWork, type RunningSide } from "./same-work.ts";
import { SETTINGS } from "./settings.ts";
import type { Side } from "./sides.ts";

/** State shared by the cases. */
export interface Bench {
  readonly databases: DatabaseServer;
  readonly generator: Worker<Load, Outcome>;
}

/** A running side with what is measured of it. */
export interface Contestant extends RunningSide {
  /** Of its database's nodes. */
  readonly postmasters: readonly number[];
  /** Number of its next request, unique in a case. */
  next: number;
}

/** Starts a side on a new database. */
export async function startSide(
  owned: AsyncDisposableStack,
  { databases }: Bench,
  side: Side,
): Promise<Contestant> {
  const database = await createDatabase(owned, databases, side);
  const postmasters = await Promise.all(database.nodes.map(postmasterOf));
  const processes = await side.start(owned, database);
  if (!side.isPeer) await useKeys(processes, database);
  return { ...side, database, postmasters, processes, next: PROOF_CALLS };
}

/** Makes the keys known: too many concurrent unknown ones are refused. */
async function useKeys(processes: readonly ServerProcess[], { accounts }: Database): Promise<void> {
  for (const { ports } of processes) {
    for (const { apiKey } of accounts) {
      const headers = { authorization: `Bearer ${apiKey}` };
      await fetch(`http://127.0.0.1:${ports.http}/v1/shipments?page_size=1`, { headers });
    }
  }
}

/** Sides to compare (the first with each of the others) and loads. */
export interface Contest {
  readonly sides: readonly Side[];
  readonly loads: readonly (readonly [operation: Operation, ...clients: number[]])[];
  /** Whether to also compare processor times of program and database. */
  readonly byProcess?: boolean;
}

type Figure = keyof Omit<Round, "feedLagsMs" | "fault">;

/** Figures of rounds by column, with their decimals. */
type Figures = Readonly<Record<string, readonly [figure: Figure, decimals: number]>>;

const ANSWERS: Figures = {
  "requests/s": ["requestsPerSecond", 0],
  "median, ms": ["medianMs", 2],
  "p99, ms": ["p99Ms", 2],
};
const USUAL: Figures = { ...ANSWERS, "CPU, µs": ["cpuMicros", 0] };
const BY_PROCESS: Figures = {
  ...ANSWERS,
  "program, µs": ["cpuMicros", 0],
  "database, µs": ["databaseMicros", 0],
  "of it the coordinator, µs": ["coordinatorMicros", 0],
  "coordinator ÷ all": ["coordinatorShare", 3],
};

/** Measures a contest and returns its table. */
export async function measureContest(bench: Bench, contest: Contest): Promise<string> {
  const { sides, loads, byProcess } = contest;
  await using owned = new AsyncDisposableStack();
  const contestants: Contestant[] = [];
  for (const side of sides) contestants.push(await startSide(owned, bench, side));
  await proveSameWork(
    contestants,
    loads.map(([operation]) => operation),
  );
  return await measureLoads(bench, contestants, loads, byProcess);
}

/** Puts contestants under loads and returns the table that compares them. */
async function measureLoads(
  bench: Bench,
  contestants: readonly Contestant[],
  loads: Contest["loads"],
  byProcess = false,
): Promise<string> {
  const rows: string[][] = [];
  const figures = byProcess ? BY_PROCESS : USUAL;
  const compared: Figure[] = byProcess ? ["requestsPerSecond", "allMicros"] : ["requestsPerSecond"];
  const ratio = `${contestants[0]!.name} ÷ it`;
  const comparisons = byProcess ? [ratio, `${ratio}, CPU of all`] : [ratio];
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
      const load = `${operation.name}, ${clients} at once`;
      rows.push(...rowsOf(load, contestants, rounds, compared, Object.values(figures)));
    }
  }
  return table(["", "", ...comparisons, ...Object.keys(figures)], rows);
}

/** Measures each once for warm-up, then in rounds. Returns the rounds of each. */
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

/** Result of one round of load. */
export interface Round extends Outcome {
  /** Processor time of the servers per request, in microseconds. `undefined` if unknown. */
  readonly cpuMicros: number | undefined;
  /** Of all database nodes. */
  readonly databaseMicros: number | undefined;
  /** Of servers and database. */
  readonly allMicros: number | undefined;
  /** Of the coordinator. Also `undefined` without one. */
  readonly coordinatorMicros: number | undefined;
  /** Coordinator's share of the total time. */
  readonly coordinatorShare: number | undefined;
}

/**
 * Puts load on a contestant and reverts its writes.
 *
 * @throws Error if any response was wrong
 */
export async function measureRound(
  { generator }: Bench,
  contestant: Contestant,
  operation: Operation,
  load: Pick<Load, "clients" | "requestsPerSecond" | "feed"> & { readonly seconds?: number },
): Promise<Round> {
  const { processes, database } = contestant;
  const { accounts } = database;
  const protocol = isGrpc(operation.call) ? "grpc" : "http";
  const before = timesOf(contestant);
  const outcome = await generator.ask({
    seconds: SETTINGS.seconds,
    ...load,
    request: requestOf(operation, accounts[0]!.apiKey),
    apiKeys: (operation.inAll ? accounts : accounts.slice(0, 1)).map(({ apiKey }) => apiKey),
    ports: processes.map(({ ports }) => ports[protocol]),
    first: contestant.next,
    shipments: database.shipments,
  });
  const costs = costsOf(before, timesOf(contestant), outcome.issued);
  contestant.next += outcome.issued;
  if (outcome.fault !== undefined) {
    throw new Error(`${contestant.name}, ${operation.name}: ${outcome.fault}`);
  }
  if (operation.from !== undefined) await restore(database, operation.from);
  return { ...outcome, ...costs };
}

/** Processor times so far in microseconds, NaN if unknown. */
interface Times {
  readonly program: number;
  readonly nodes: readonly number[];
}

function timesOf({ processes, postmasters }: Contestant): Times {
  return {
    program: sum(processes.map(({ pid }) => cpuMicros(pid) ?? Number.NaN)),
    nodes: postmasters.map((pid) => familyCpuMicros(pid) ?? Number.NaN),
  };
}

function costsOf(before: Times, after: Times, requests: number): Omit<Round, keyof Outcome> {
  const known = (value: number) => (Number.isNaN(value) ? undefined : value);
  const program = (after.program - before.program) / requests;
  const nodes = after.nodes.map((time, i) => (time - before.nodes[i]!) / requests);
  const database = sum(nodes);
  const coordinator = nodes.length > 1 ? nodes[0]! : Number.NaN;
  return {
    cpuMicros: known(program),
    databaseMicros: known(database),
    allMicros: known(program + database),
    coordinatorMicros: known(coordinator),
    coordinatorShare: known(coordinator / (program + database)),
  };
}

const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);

function rowsOf(
  load: string,
  contestants: readonly Contestant[],
  rounds: readonly (readonly Round[])[],
  compared: readonly Figure[],
  figures: readonly Figures[string][],
): string[][] {
  const valuesOf = (of: readonly Round[], figure: Figure) => of.map((round) => round[figure]);
  return rounds.map((of, i) => [
    i === 0 ? load : "",
    contestants[i]!.name,
    ...compared.map((figure) =>
      i === 0 ? "" : spread(ratios(valuesOf(rounds[0]!, figure), valuesOf(of, figure)), 2),
    ),
    ...figures.map(([figure, decimals]) => spread(valuesOf(of, figure), decimals)),
  ]);
}
