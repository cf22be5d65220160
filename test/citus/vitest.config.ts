import { defineConfig } from "vitest/config";
import base from "../vitest.config.ts";
import { LEFT_OUT_FILES } from "./left-out.ts";

/**
 * The tests of a distributed database itself, of the rooms whose tables are distributed, and those that
 * call every method, on the nodes of TEST_DATABASE_URL. The tables of all other rooms are the coordinator's
 * own, where it is one PostgreSQL as any.
 */
const INCLUDED = [
  "test/citus/**/*.test.ts",
  "test/db/**/*.test.ts",
  "test/features/{customers,events,idempotency,payments,quotes,recipients,reports,shipments,test-mode,webhooks}/**/*.test.ts",
  "test/server/{audit-coverage,hostile-settings,reads,statements,tenancy}.test.ts",
];

export default defineConfig({
  test: {
    ...base.test,
    projects: [
      {
        test: {
          name: "citus",
          include: INCLUDED,
          exclude: ["test/**/*.unit.test.ts", "test/**/*.slow.test.ts", ...LEFT_OUT_FILES],
          setupFiles: "test/citus/leave-out.ts",
          globalSetup: "test/support/global-setup.ts",
        },
      },
    ],
  },
});
