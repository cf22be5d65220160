import { defineConfig } from "vitest/config";
import base from "../vitest.config.ts";
import { LEFT_OUT_FILES } from "./left-out.ts";

/**
 * Tests that run on the nodes of TEST_DATABASE_URL: those of the distributed database, of folders
 * with distributed tables, and those that call every method. All other tables are only on the
 * coordinator, where they behave as in an ordinary PostgreSQL.
 */
const INCLUDED = [
  "test/citus/**/*.test.ts",
  "test/db/**/*.test.ts",
  "test/features/{audit,customers,events,idempotency,payments,quotes,recipients,reports,shipments,slots,test-mode,webhooks}/**/*.test.ts",
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
