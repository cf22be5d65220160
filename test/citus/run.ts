/**
 * `npm run test:citus`: runs the service's tests on a Citus cluster that it starts. Without the
 * citus extension, prints a message and passes. With the extension, the cluster must start.
 */
import { runTests, summary } from "../run.ts";
import { findPrograms, startCluster } from "./cluster.ts";

const programs = findPrograms();
if (programs === undefined) {
  process.stdout.write(`Skipped: no PostgreSQL with the extension citus was found.\n${summary(0, 0, 0)}`);
} else {
  const cluster = await startCluster(programs).catch((error: unknown) => {
    process.stdout.write(`The Citus cluster does not start: ${error}\n${summary(0, 1, 0)}`);
    process.exit(1);
  });
  try {
    process.env["TEST_DATABASE_URL"] = cluster.nodes.join(" ");
    await runTests("test/citus/vitest.config.ts", process.argv.slice(2));
  } finally {
    await cluster.stop();
  }
}
