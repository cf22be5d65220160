import { defineConfig } from "vitest/config";
import { ClosingLine } from "./support/closing-line.ts";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: "test/support/global-setup.ts",
    // Much of the time goes into waiting for stated bounds: more workers than cores pay.
    maxWorkers: 3,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ["default", new ClosingLine()],
  },
});
