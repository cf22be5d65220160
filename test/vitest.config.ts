import { defineConfig } from "vitest/config";
import { ClosingLine } from "./support/closing-line.ts";

/** A file's name says which project it belongs to. */
const UNIT = "test/**/*.unit.test.ts";
const SLOW = "test/**/*.slow.test.ts";
/** What `npm run test:citus` alone runs. */
const CITUS = "test/**/*.citus.test.ts";

/** How often a test that waits for others is tried again when it fails; what needs nobody is never. */
export const retry = Number(process.env["TEST_RETRIES"] ?? 0);

export default defineConfig({
  test: {
    projects: [
      // Neither a service nor a database.
      { test: { name: "unit", include: [UNIT] } },
      // A service and a database, which files that run in one worker share unless they start their own.
      {
        test: {
          name: "service",
          retry,
          include: ["test/**/*.test.ts"],
          exclude: [UNIT, SLOW, CITUS],
          globalSetup: "test/support/global-setup.ts",
        },
      },
      // Browsers, images, other releases, guides as shell: whatever takes long by nature.
      {
        test: { name: "slow", retry, include: [SLOW], globalSetup: "test/support/global-setup.ts" },
      },
    ],
    // A worker loads modules once for all of its files.
    isolate: false,
    // Tests spend much of their time waiting, so that more workers than cores pay.
    maxWorkers: 3,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 10_000 } },
    reporters: ["default", new ClosingLine()],
  },
});
