import { join } from "node:path";
import { expect, test } from "vitest";
import { runProgram } from "../support/run-program.ts";

test("tests on Citus fail if the extension is installed but the cluster does not start", async () => {
  const { code, stdout } = await runProgram(process.execPath, ["test/citus/run.ts"], {
    cwd: join(import.meta.dirname, "../.."),
    env: { ...process.env, CITUS_POSTGRES_BIN: "/nowhere" },
  });
  expect([code, stdout.split("\n").at(-2)]).toEqual([1, "0 passed, 1 failed, 0 skipped"]);
});
