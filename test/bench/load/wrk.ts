import { fileURLToPath } from "node:url";
import { runCommand } from "../run-command.ts";
import type { HttpLoad, Outcome } from "./http-load.ts";

const SCRIPT = fileURLToPath(new URL("wrk.lua", import.meta.url));

/** Puts load on a server with wrk, from one thread. */
export async function runWrk(load: HttpLoad): Promise<Outcome> {
  const { url, method, path, body = "", apiKey, connections, seconds, first } = load;
  const args = ["-t1", `-c${connections}`, `-d${seconds}`, "--timeout", "10", "-s", SCRIPT, url];
  const output = await runCommand("wrk", args, {
    env: {
      LOAD_METHOD: method,
      LOAD_PATH: path,
      LOAD_BODY: body,
      LOAD_API_KEY: apiKey,
      LOAD_FIRST: String(first),
      LOAD_SHIPMENTS: String(load.shipments ?? Number.MAX_SAFE_INTEGER),
    },
  });
  return JSON.parse(/^RESULT (.*)$/m.exec(output)![1]!) as Outcome;
}
