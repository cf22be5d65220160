import { defineConfig } from "vitest/config";
import { PAGE_MS, TEST_MS } from "./support/limits.ts";

/** A file's name determines its project. */
const UNIT = "test/**/*.unit.test.ts";
const SLOW = "test/**/*.slow.test.ts";
/** Run only by `npm run test:citus`. */
const CITUS = "test/**/*.citus.test.ts";

export default defineConfig({
  test: {
    projects: [
      // Without a service or a database.
      { test: { name: "unit", include: [UNIT] } },
      // With a service and a database, which the files of a worker share unless they start separate ones.
      {
        test: {
          name: "service",
          include: ["test/**/*.test.ts"],
          exclude: [UNIT, SLOW, CITUS],
          globalSetup: "test/support/global-setup.ts",
        },
      },
      // Browsers, images, other releases, guides as shell: inherently slow tests.
      {
        test: { name: "slow", include: [SLOW], globalSetup: "test/support/global-setup.ts" },
      },
    ],
    // A worker loads modules once for all of its files.
    isolate: false,
    // Tests spend much of their time waiting, so more workers than cores are useful.
    maxWorkers: 3,
    // Tests create short-lived garbage, which costs less when it is collected a quarter as often.
    execArgv: ["--max-semi-space-size=64"],
    testTimeout: TEST_MS,
    hookTimeout: TEST_MS,
    teardownTimeout: TEST_MS,
    expect: { poll: { timeout: PAGE_MS } },
  },
});
