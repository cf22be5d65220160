import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { PAGE_MS, TEST_MS } from "./support/limits.ts";

/** Names of unit test files. A file's name determines its project. */
const UNIT = "test/**/*.unit.test.ts";
const SLOW = "test/**/*.slow.test.ts";
/** Names of test files that only `npm run test:citus` runs. */
const CITUS = "test/**/*.citus.test.ts";

/** Starts slow files first, so that short files keep all workers busy until the end. */
class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isSlow = ({ project }: TestSpecification) => project.name === "slow";
    return [...sorted.filter(isSlow), ...sorted.filter((file) => !isSlow(file))];
  }
}

export default defineConfig({
  test: {
    projects: [
      // Tests without a service or a database.
      { test: { name: "unit", include: [UNIT] } },
      // Tests with a service and a database, which the files of a worker share unless they start separate ones.
      {
        test: {
          name: "service",
          include: ["test/**/*.test.ts"],
          exclude: [UNIT, SLOW, CITUS],
          globalSetup: "test/support/global-setup.ts",
        },
      },
      // Inherently slow tests: browsers, images, other releases, and guides run in a shell.
      {
        test: { name: "slow", include: [SLOW], globalSetup: "test/support/global-setup.ts" },
      },
    ],
    // Modules are loaded once per worker for all of its files.
    isolate: false,
    sequence: { sequencer: SlowFirst },
    // More workers than cores are useful, because tests spend much of their time waiting.
    maxWorkers: 3,
    // A larger young generation: tests create short-lived garbage, which is cheaper to collect a quarter as often.
    execArgv: ["--max-semi-space-size=64"],
    testTimeout: TEST_MS,
    hookTimeout: TEST_MS,
    teardownTimeout: TEST_MS,
    expect: { poll: { timeout: PAGE_MS } },
  },
});
