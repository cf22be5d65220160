import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runProgram } from "../support/run-program.ts";
import { LEFT_OUT } from "./left-out.ts";

test("tests on Citus fail if the extension is installed but the cluster does not start", async () => {
  const { code, stdout } = await runProgram(process.execPath, ["test/citus/run.ts"], {
    cwd: join(import.meta.dirname, "../.."),
    env: { ...process.env, CITUS_POSTGRES_BIN: "/nowhere" },
  });
  expect([code, stdout.split("\n").at(-2)]).toEqual([1, "0 passed, 1 failed, 0 skipped"]);
});

test("every test that is skipped on Citus exists", () => {
  const missing = LEFT_OUT.filter(({ file, test = "" }) => !readFileSync(file, "utf8").includes(test));
  expect(missing).toEqual([]);
});
