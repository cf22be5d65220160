import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { onTestFinished } from "vitest";
import { freePort } from "./free-port.ts";

/** Whether Redis is installed. */
export const hasRedis = spawnSync("redis-server", ["--version"]).error === undefined;

/** Starts an empty Redis on the loopback address, until the end of the test or `stop`. */
export async function startRedis() {
  const port = await freePort();
  const args = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"];
  const child = spawn("redis-server", args, { stdio: ["ignore", "pipe", "ignore"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  for await (const chunk of child.stdout) {
    if (String(chunk).includes("Ready to accept connections")) break;
  }
  const stop = async () => {
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  };
  return { url: `redis://127.0.0.1:${port}`, stop };
}
