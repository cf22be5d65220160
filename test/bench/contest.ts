/**
 * Measures a case. Starts its servers, each on its own database with the same shipments, and checks that they do the
 * same work. Then puts all servers under load in turn, repeatedly, for each operation and number of clients, so that
 * disturbances affect them equally. Reverts the writes after each round.
 */
import { createDatabase, postmasterOf, restore } from "./database.ts";
import type { Database, DatabaseServer } from "./database.ts";
import { ratios, spread, table } from "./figures.ts";
import type { Load, Outcome } from "./load/load.ts";
import { isGrpc, requestOf, type Operation } from "./operations.ts";
import { cpuMicros, familyCpuMicros } from "./process-cost.ts";
import type { ServerProcess, Worker } from "./processes.ts";
import { CHECK_CALLS, checkSameWork, type RunningSide } from "./same-work.ts";
import { SETTINGS } from "./settings.ts";
import type { Side } from "./sides.ts";

/** State that all cases share. */
export interface Bench {
  readonly databases: DatabaseServer;
  readonly generator: Worker<Load, Outcome>;
}

/** A side whose server is running, with the state of its measurement. */
export interface Contestant extends RunningSide {
  /** Process id of each database node's PostgreSQL. */
  readonly postmasters: readonly number[];
  /** Number of the next request. Requests of a case have unique numbers. */
  next: number;
}

/** Starts a side's server on a new database. */
export async function startSide(owned: AsyncDisposableStack, { databases }: Bench, side: Side): Promise<Contestant> {
  const database = await createDatabase(owned, databases, side);
  const postmasters = await Promise.all(database.nodes.map(postmasterOf));
  const processes = await side.start(owned, database);
  if (!side.isPeer) await useKeys(processes, database);
  return { ...side, database, postmasters, processes, next: CHECK_CALLS };
}

/** Calls with every key once so that keys are cached, because too many concurrent unknown keys are refused. */
async function useKeys(processes: readonly ServerProcess[], { accounts }: Database): Promise<void> {
  for (const { ports } of processes) {
    for (const { apiKey } of accounts) {
      const headers = { authorization: `Bearer ${apiKey}` };
      await fetch(`http://127.0.0.1:${ports.http}/v1/shipments?page_size=1`, { headers });
    }
  }
}

/** Sides and loads to compare. The first side is compared with each of the others. */
export interface Contest {
  readonly sides: readonly Side[];
  readonly loads: readonly (readonly [operation: Operation, ...clients: number[]])[];
  /** Whether to compare the processor times of program and database too. */
  readonly byProcess?: boolean;
}

type Figure = keyof Omit<Round, "feedLagsMs" | "fault">;

/** Table columns: the figure of each round, and its number of decimals. */
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

/** Runs a contest and returns its table of results. */
export async function measureContest(bench: Bench, contest: Contest): Promise<string> {
  const { sides, loads, byProcess } = contest;
  await using owned = new AsyncDisposableStack();
  const contestants: Contestant[] = [];
  for (const side of sides) contestants.push(await startSide(owned, bench, side));
  await checkSameWork(
    contestants,
    loads.map(([operation]) => operation),
  );
  return await measureLoads(bench, contestants, loads, byProcess);
}

/** Puts contestants under each load and returns a table that compares them. */
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

/** Measures each contestant once as a warm-up, then in rounds. Returns the rounds of each contestant. */
export async function measureAll<T, R>(all: readonly T[], measure: (one: T) => Promise<R>): Promise<R[][]> {
  for (const one of all) await measure(one);
  return interleave(all, measure);
}

async function interleave<T, R>(all: readonly T[], measure: (one: T) => Promise<R>): Promise<R[][]> {
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
  /** CPU time of all database nodes per request, in microseconds. `undefined` if unknown. */
  readonly databaseMicros: number | undefined;
  /** CPU time of the servers and the database together, per request, in microseconds. `undefined` if unknown. */
  readonly allMicros: number | undefined;
  /** CPU time of the coordinator per request, in microseconds. `undefined` if the database is not distributed. */
  readonly coordinatorMicros: number | undefined;
  /** Share of the coordinator in the processor time of servers and database. */
  readonly coordinatorShare: number | undefined;
}

/**
 * Puts one round of load on a contestant and reverts its writes.
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

/** Processor times up to now, in microseconds. NaN if unknown. */
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
    ...compared.map((figure) => (i === 0 ? "" : spread(ratios(valuesOf(rounds[0]!, figure), valuesOf(of, figure)), 2))),
    ...figures.map(([figure, decimals]) => spread(valuesOf(of, figure), decimals)),
  ]);
}
