import { defineConfig } from "vitest/config";
import base from "../vitest.config.ts";
import { LEFT_OUT_FILES } from "./left-out.ts";

/**
 * Tests of the distributed database, tests of folders with distributed tables, and tests that call every method, on the
 * nodes of TEST_DATABASE_URL. All other tables are only on the coordinator, an ordinary PostgreSQL.
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
