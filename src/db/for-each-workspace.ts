import type { EntityManager } from "./orm.ts";
import type { Connection } from "./servers.ts";
import { serversOf } from "./servers-of.ts";
import { release } from "./statement.ts";

/**
 * Runs one statement for each of several workspaces, outside a transaction, on the workspace's node and
 * without waiting for earlier responses. Each run is a separate transaction, so that the loss of a node
 * affects only its workspaces.
 *
 * @param values values of each run, the workspace first
 * @param options.durable false if a database crash may lose the writes. Runs then do not wait for the
 *   disk. Default true
 * @returns the rows of each run, `undefined` for a failed run
 * @throws the error if all runs failed
 */
export async function runForEach<Row>(
  em: EntityManager,
  sql: string,
  values: readonly (readonly unknown[])[],
  { durable = true }: { readonly durable?: boolean } = {},
): Promise<(Row[] | undefined)[]> {
  const servers = await serversOf(em);
  const nodes = await Promise.all(values.map(([workspace]) => servers.nodeOf(workspace as number)));
  const byNode = Map.groupBy(values.keys(), (i) => {
    const node = nodes[i];
    return typeof node === "object" ? node : undefined;
  });
  const runs: PromiseSettledResult<Row[]>[] = [];
  const atNodes = [...byNode].map(async ([node, at]) => {
    const own = at.map((i) => values[i]!);
    const connecting = servers.connect({ node });
    const ended = await runOn<Row>(em, connecting, { sql, values: own, durable }).catch((reason: unknown) =>
      own.map(() => ({ status: "rejected" as const, reason })),
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

async function runOn<Row>(
  em: EntityManager,
  connecting: Promise<Connection>,
  { sql, values, durable }: Runs,
): Promise<PromiseSettledResult<Row[]>[]> {
  const { client } = await connecting;
  try {
    const setting = durable ? [] : [client.query("set synchronous_commit = off")];
    const runs = values.map(async (own) => {
      em.config.getLogger().logQuery({ level: "info", query: sql, params: [...own] });
      return (await client.query<Row & object>({ text: sql, values: [...own] })).rows as Row[];
    });
    if (!durable) setting.push(client.query("reset synchronous_commit"));
    // The setting can fail only if the connection fails, so its result is ignored.
    const [ended] = await Promise.all([Promise.allSettled(runs), Promise.allSettled(setting)]);
    return ended;
  } finally {
    release(client);
  }
}
