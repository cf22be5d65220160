import { defineConfig } from "vitest/config";
import { PAGE_MS, TEST_MS } from "./support/limits.ts";

/** A file's name says which project it belongs to. */
const UNIT = "test/**/*.unit.test.ts";
const SLOW = "test/**/*.slow.test.ts";
/** What `npm run test:citus` alone runs. */
const CITUS = "test/**/*.citus.test.ts";

export default defineConfig({
  test: {
    projects: [
      // Neither a service nor a database.
      { test: { name: "unit", include: [UNIT] } },
      // A service and a database, which files that run in one worker share unless they start their own.
      {
        test: {
          name: "service",
          include: ["test/**/*.test.ts"],
          exclude: [UNIT, SLOW, CITUS],
          globalSetup: "test/support/global-setup.ts",
        },
      },
      // Browsers, images, other releases, guides as shell: whatever takes long by nature.
      {
        test: { name: "slow", include: [SLOW], globalSetup: "test/support/global-setup.ts" },
      },
    ],
    // A worker loads modules once for all of its files.
    isolate: false,
    // Tests spend much of their time waiting, so that more workers than cores pay.
    maxWorkers: 3,
    // What a test makes is soon garbage, which costs less when it is collected a quarter as often.
    execArgv: ["--max-semi-space-size=64"],
    testTimeout: TEST_MS,
    hookTimeout: TEST_MS,
    teardownTimeout: TEST_MS,
    expect: { poll: { timeout: PAGE_MS } },
  },
});
