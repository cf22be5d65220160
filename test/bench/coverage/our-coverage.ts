import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { interrupted } from "../interruption.ts";
import type { LookUps } from "./look-ups.ts";

const SCRIPT = fileURLToPath(new URL("coverage-process.ts", import.meta.url));

/** Looks points up among so many zones, for so many seconds. */
export type LookUp = (zones: number, seconds: number) => Promise<LookUps>;

/** Starts the process that holds the product's coverage. */
export async function startCoverage(owned: AsyncDisposableStack): Promise<LookUp> {
  const child = fork(SCRIPT);
  owned.defer(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.disconnect();
    await ended;
  });
  const said = async () => {
    const [message] = await once(child, "message", { signal: interrupted });
    return message as LookUps;
  };
  await said();
  return (zones, seconds) => {
    child.send({ zones, seconds });
    return said();
  };
}
