import { findPrograms, startCluster, type Cluster } from "../../citus/cluster.ts";
import { measureLoads, type Bench, type Contestant } from "../contest.ts";
import { createOnNodes, WORKSPACES } from "../database.ts";
import { create, inWorkspaces } from "../operations.ts";
import { ours } from "../sides.ts";

/** As servers are run whose data must outlive a power cut. */
const SAFE = ["fsync = on", "synchronous_commit = on", "full_page_writes = on"];
/** What is written stays, as there is no other database to compare its size with. */
const BOOKING = { name: create.name, call: create.call };

/** Bookings on a Citus cluster, beside one PostgreSQL of the same version on the same cores. */
export async function distributed(bench: Bench): Promise<string> {
  const programs = findPrograms();
  if (programs === undefined) return "Not measured: there was no PostgreSQL with Citus.";
  await using owned = new AsyncDisposableStack();
  const start = async (name: string, count: number) =>
    startOn(owned, bench, name, await startCluster(programs, { count, settings: SAFE }));
  const contestants = [await start("Citus, two workers", 3), await start("one PostgreSQL", 1)];
  return await measureLoads(bench, contestants, [
    [BOOKING, 1, 64],
    [inWorkspaces(BOOKING, WORKSPACES), 1, 64],
  ]);
}

async function startOn(
  owned: AsyncDisposableStack,
  { databases: { tariffFile } }: Bench,
  name: string,
  cluster: Cluster,
): Promise<Contestant> {
  owned.defer(cluster.stop);
  const side = ours(name);
  const database = {
    ...(await createOnNodes(cluster.nodes, tariffFile)),
    shipments: side.shipments,
  };
  return { ...side, database, processes: await side.start(owned, database), next: 0 };
}
