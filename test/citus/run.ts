/**
 * `npm run test:citus`: the service's tests on a distributed database, on a Citus cluster that it starts.
 * Where PostgreSQL has no extension citus it says so, and no test fails; where it has, the cluster must start.
 */
import { runTests } from "../run.ts";
import { findPrograms, startCluster } from "./cluster.ts";

const programs = findPrograms();
if (programs === undefined) {
  process.stdout.write(
    "Nothing was tested on Citus: there is no PostgreSQL with the extension citus here.\n\n0 passed, 0 failed\n",
  );
} else {
  const cluster = await startCluster(programs).catch((error: unknown) => {
    process.stdout.write(`The Citus cluster does not start: ${error}\n\n0 passed, 1 failed\n`);
    process.exit(1);
  });
  try {
    process.env["TEST_DATABASE_URL"] = cluster.nodes.join(" ");
    await runTests("test/citus/vitest.config.ts", process.argv.slice(2));
  } finally {
    await cluster.stop();
  }
}
