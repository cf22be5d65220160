import { join } from "node:path";
import { expect, test } from "vitest";
import { runProgram } from "./support/run-program.ts";

test("the last line has the number of passed, failed and skipped tests", async () => {
  const { code, stdout } = await runProgram(
    process.execPath,
    ["test/run.ts", "--project", "unit", "test/domain/instant.unit.test.ts", "-t", "no such test"],
    { cwd: join(import.meta.dirname, "..") },
  );
  expect([code, stdout.split("\n").at(-2)]).toEqual([
    0,
    expect.stringMatching(/^0 passed, 0 failed, [1-9]\d* skipped$/),
  ]);
});
