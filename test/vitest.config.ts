import { defineConfig } from "vitest/config";
import { ClosingLine } from "./support/closing-line.ts";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: "test/support/global-setup.ts",
    // Tests spend much of their time waiting, so that more workers than cores pay.
    maxWorkers: 3,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 10_000 } },
    reporters: ["default", new ClosingLine()],
  },
});
