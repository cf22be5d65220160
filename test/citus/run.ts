/**
 * `npm run test:citus`: the service's tests on a distributed database, on a Citus cluster that it starts.
 * Where there is no PostgreSQL with Citus it says so, and no test fails.
 */
import { runTests } from "../run.ts";
import { findPrograms, startCluster, type Cluster } from "./cluster.ts";

async function tryToStart(): Promise<Cluster | string> {
  const programs = findPrograms();
  if (programs === undefined) return "there is no PostgreSQL with the extension citus here";
  try {
    return await startCluster(programs);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const cluster = await tryToStart();
if (typeof cluster === "string") {
  process.stdout.write(`Nothing was tested on Citus: ${cluster}.\n\n0 passed, 0 failed\n`);
} else {
  try {
    process.env["TEST_DATABASE_URL"] = cluster.nodes.join(" ");
    await runTests("test/citus/vitest.config.ts", process.argv.slice(2));
  } finally {
    await cluster.stop();
  }
}
