import { connectToNode, type Place, placeOf } from "./nodes.ts";
import type { EntityManager } from "./orm.ts";
import { release } from "./statement.ts";

/**
 * Runs one statement several times, once for each of several workspaces, outside a transaction: at the node that has
 * the workspace, each sent without waiting for the answers to those before it. Each is a transaction of its
 * own, so that the loss of a node of a distributed database concerns the workspaces that are there.
 *
 * @param values those of each run, the workspace first
 * @param options.durable false for what may be lost when the database crashes: no run then waits for the disk. Default true
 * @returns the rows of each run; undefined for one that failed, while others did not
 * @throws the error, when all have failed
 */
export async function runForEach<Row>(
  em: EntityManager,
  sql: string,
  values: readonly (readonly unknown[])[],
  { durable = true }: { readonly durable?: boolean } = {},
): Promise<(Row[] | undefined)[]> {
  const places = await Promise.all(values.map(([workspace]) => placeOf(em, workspace as number)));
  const nodes = Map.groupBy(values.keys(), (i) => {
    const place = places[i];
    return typeof place === "object" ? place : undefined;
  });
  const runs: PromiseSettledResult<Row[]>[] = [];
  const atNodes = [...nodes].map(async ([node, at]) => {
    const own = at.map((i) => values[i]!);
    const ended = await runAt<Row>(em, node, { sql, values: own, durable }).catch(
      (reason: unknown) => own.map(() => ({ status: "rejected" as const, reason })),
    );
    at.forEach((i, k) => (runs[i] = ended[k]!));
  });
  await Promise.all(atNodes);
  const [first] = runs;
  if (first?.status === "rejected" && runs.every(({ status }) => status === "rejected")) {
    throw first.reason;
  }
  return runs.map((run) => (run.status === "fulfilled" ? run.value : undefined));
}

interface Runs {
  readonly sql: string;
  readonly values: readonly (readonly unknown[])[];
  readonly durable: boolean;
}

async function runAt<Row>(
  em: EntityManager,
  place: Place,
  { sql, values, durable }: Runs,
): Promise<PromiseSettledResult<Row[]>[]> {
  const { client } = await connectToNode(em, { place });
  try {
    const setting = durable ? [] : [client.query("set synchronous_commit = off")];
    const runs = values.map(async (own) => {
      em.config.getLogger().logQuery({ level: "info", query: sql, params: [...own] });
      return (await client.query<Row & object>({ text: sql, values: [...own] })).rows as Row[];
    });
    if (!durable) setting.push(client.query("reset synchronous_commit"));
    // What sets fails with the connection, as the runs do.
    const [ended] = await Promise.all([Promise.allSettled(runs), Promise.allSettled(setting)]);
    return ended;
  } finally {
    release(client);
  }
}
