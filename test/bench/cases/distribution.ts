import { findPrograms, startCluster, type ClusterOptions } from "../../citus/cluster.ts";
import { measureContest, type Bench } from "../contest.ts";
import { create, createInAll, get } from "../operations.ts";
import { SETTINGS } from "../settings.ts";
import { ours } from "../sides.ts";

/** PostgreSQL settings of the bench's own server. */
const DURABLE = ["fsync = on", "full_page_writes = on", "random_page_cost = 1.1"];
/** Number of shipments. Small, because distributing a database copies them again. */
const SHIPMENTS = 20_000;
const WITHOUT_CITUS = "shared_preload_libraries = ''";

/** Compares a coordinator with two workers to one server of the same PostgreSQL. */
export async function distribution(bench: Bench): Promise<string> {
  await using owned = new AsyncDisposableStack();
  const three = await startNodes(owned);
  if (three === undefined) return "Not measured: there is no PostgreSQL with Citus here.";
  const one = await startNodes(owned, { count: 1, settings: [WITHOUT_CITUS] });
  const { before } = SETTINGS;
  const name = before === undefined ? "one server" : "one server, before";
  return await measureContest(bench, {
    sides: [
      ours("three nodes", { shipments: SHIPMENTS, nodes: three }),
      ours(name, { shipments: SHIPMENTS, nodes: one, repository: before }),
    ],
    loads: [
      [create, 1, 64],
      [createInAll, 64],
      [get, 1, 64],
    ],
    byProcess: true,
  });
}

/** Starts three Citus nodes by default, as durable as the bench's server. `undefined` without Citus. */
export async function startNodes(
  owned: AsyncDisposableStack,
  { count = 3, settings = [] }: ClusterOptions = {},
): Promise<readonly string[] | undefined> {
  const programs = findPrograms();
  if (programs === undefined) return undefined;
  const cluster = await startCluster(programs, { count, settings: [...DURABLE, ...settings] });
  owned.defer(cluster.stop);
  return cluster.nodes;
}
