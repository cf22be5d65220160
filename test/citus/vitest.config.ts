import { defineConfig } from "vitest/config";
import base from "../vitest.config.ts";
import { LEFT_OUT_FILES } from "./left-out.ts";

/** The service's tests, and those of a distributed database's own, on the nodes of TEST_DATABASE_URL. */
export default defineConfig({
  test: {
    ...base.test,
    projects: [
      {
        test: {
          name: "citus",
          include: ["test/**/*.test.ts"],
          exclude: ["test/**/*.unit.test.ts", "test/**/*.slow.test.ts", ...LEFT_OUT_FILES],
          setupFiles: "test/citus/leave-out.ts",
          globalSetup: "test/support/global-setup.ts",
        },
      },
    ],
  },
});
