import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";

const PROGRAM = `
  import { spawnGroup } from "${new URL("process-group.ts", import.meta.url).href}";
  const args = ["-c", "sleep 600 & echo started; wait"];
  const { leader } = spawnGroup("sh", args, { stdio: ["ignore", "pipe", "inherit"] });
  leader.stdout.once("data", () => process.kill(process.pid, "SIGKILL"));`;

test("a killed process takes its process groups along, with their children", async () => {
  const parent = spawn("node", ["--input-type=module", "--eval", PROGRAM], { stdio: ["ignore", "ignore", "pipe"] });
  // The group shares this output, which closes when the last of its processes has exited.
  const printed = text(parent.stderr);
  expect(await once(parent, "exit")).toEqual([null, "SIGKILL"]);
  expect(await printed).toBe("");
});
